import { expect, it } from "vitest";
import { statusBarLook, type StatusBarFacts } from "./status-bar-item.ts";
import { status } from "./testing/things.ts";

const asking = status({ trust: { ...status().trust, pending: ["more"] } });

it.each<[string, Partial<StatusBarFacts>, string, string]>([
  ["starting", { state: { kind: "starting" } }, "$(sync~spin) Lares", "lares.showStatus"],
  ["well", {}, "$(home) Lares", "lares.showStatus"],
  ["indexing", { status: status({ ready: false }) }, "$(sync~spin) Lares: indexing", "lares.showStatus"],
  ["waiting for an answer", { waiting: 2 }, "$(bell-dot) Lares: 2 waiting", "lares.approvals.focus"],
  ["asking for more", { status: asking }, "$(shield) Lares: review", "lares.trustWorkspace"],
  ["with an agent in error", { failing: 1 }, "$(warning) Lares: 1 in error", "lares.agents.focus"],
  [
    "not trusted by the editor",
    { state: { kind: "untrusted", by: "editor" } },
    "$(shield) Lares: restricted",
    "workbench.trust.manage",
  ],
  [
    "not allowed yet",
    { state: { kind: "untrusted", by: "documents" } },
    "$(shield) Lares: review",
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
  const facts = { state: { kind: "running" }, status: status(), waiting: 0, agents: 2, failing: 0 } as const;
  expect(statusBarLook({ ...facts, ...given })).toMatchObject({ text, command });
});

it("a reason cannot put icons or lines of its own there", () => {
  const reason = "bad\n$(check) fine";
  const look = statusBarLook({
    state: { kind: "failed", reason },
    status: undefined,
    waiting: 0,
    agents: 0,
    failing: 0,
  });
  expect(look.text).not.toContain("check");
  expect(look.tooltip).not.toContain("$(");
});
