import { expect, it } from "vitest";
import { statusBarLook, type StatusBarFacts } from "./status-bar-item.ts";
import { status } from "../testing/things.ts";

const asking = status({ trust: { ...status().trust, pending: ["more"] } });

const facts: StatusBarFacts = {
  state: { kind: "running" },
  status: status(),
  waiting: 0,
  questions: 0,
  agents: 2,
  failing: [],
  working: [],
};
const titles = { id: "a", name: "Titles" };
const storage = { id: "b", name: "Storage" };

it.each<[string, Partial<StatusBarFacts>, string, string]>([
  ["starting", { state: { kind: "starting" } }, "$(loading~spin) Lares: starting", "lares.showStatus"],
  ["well", {}, "$(home) Lares", "lares.showStatus"],
  ["indexing", { status: status({ ready: false }) }, "$(loading~spin) Lares: indexing", "lares.showStatus"],
  ["waiting for one answer", { waiting: 1 }, "$(bell-dot) Lares: 1 waits for you", "lares.approvals.focus"],
  ["waiting for answers", { waiting: 4 }, "$(bell-dot) Lares: 4 wait for you", "lares.approvals.focus"],
  ["asked a question", { questions: 1 }, "$(bell-dot) Lares: 1 waits for you", "lares.approvals.focus"],
  [
    "asked questions beside changes, they are counted together",
    { waiting: 2, questions: 1 },
    "$(bell-dot) Lares: 3 wait for you",
    "lares.approvals.focus",
  ],
  ["asking for more", { status: asking }, "$(shield) Lares: needs your permission", "lares.trustWorkspace"],
  [
    "with an agent that fails",
    { failing: [titles] },
    "$(error) Lares: Titles fails",
    "lares.agentShowProblem",
  ],
  ["with several", { failing: [titles, storage] }, "$(error) Lares: 2 agents fail", "lares.agents.focus"],
  [
    "with both, both are said",
    { failing: [titles], waiting: 4 },
    "$(bell-dot) Lares: 4 wait for you $(error) 1",
    "lares.approvals.focus",
  ],
  ["at work", { working: [storage] }, "$(loading~spin) Lares: Storage works", "lares.agents.focus"],
  [
    "not trusted by the editor",
    { state: { kind: "untrusted", by: "editor" } },
    "$(workspace-untrusted) Lares: Restricted Mode",
    "workbench.trust.manage",
  ],
  [
    "not allowed yet",
    { state: { kind: "untrusted", by: "documents" } },
    "$(shield) Lares: needs your permission",
    "lares.trustWorkspace",
  ],
  [
    "started again",
    { state: { kind: "restarting", inMs: 1500, reason: "it ended" } },
    "$(warning) Lares: restarting",
    "lares.showStatus",
  ],
  [
    "silent",
    { state: { kind: "silent", reason: "It has not answered for 10 seconds." } },
    "$(warning) Lares: no answer",
    "lares.showStatus",
  ],
  [
    "given up",
    { state: { kind: "failed", reason: "it ended" } },
    "$(error) Lares: not running",
    "lares.showStatus",
  ],
])("%s", (_name, given, text, command) => {
  expect(statusBarLook({ ...facts, ...given })).toMatchObject({ text, command });
});

it("a reason cannot add icons or lines", () => {
  const reason = "bad\n$(check) fine";
  const look = statusBarLook({ ...facts, state: { kind: "failed", reason } });
  expect(look.text).not.toContain("check");
  expect(look.tooltip).not.toContain("$(");
  const named = statusBarLook({ ...facts, failing: [{ id: "a", name: "$(check)\nfine" }] });
  expect(named.text).not.toContain("$(check)");
  expect(named.text).not.toContain("\n");
});

it("the L beside files is explained while a change is pending", () => {
  expect(statusBarLook({ ...facts, waiting: 1 }).tooltip).toContain("The letter L");
  expect(statusBarLook(facts).tooltip).not.toContain("letter L");
});

it("the one failing agent is opened by its id", () => {
  expect(statusBarLook({ ...facts, failing: [titles] }).arguments).toEqual([{ id: "a" }]);
});

it("waiting and working have different icons", () => {
  const signs = (given: Partial<StatusBarFacts>): string[] =>
    statusBarLook({ ...facts, ...given }).text.match(/\$\([^)]+\)/g) ?? [];
  const waits = [...signs({ waiting: 1 }), ...signs({ status: asking })];
  const works = [
    ...signs({ working: [storage] }),
    ...signs({ status: status({ ready: false }) }),
    ...signs({ state: { kind: "starting" } }),
  ];
  expect(waits.filter((sign) => works.includes(sign) || sign.includes("spin"))).toEqual([]);
  expect(works.every((sign) => sign.includes("spin"))).toBe(true);
});
