import { expect, it } from "vitest";
import type { TraceEntry } from "../protocol.ts";
import { action, agent, effect } from "../testing/things.ts";
import { maxFailures, maxFiles } from "../webviews/activity/messages.ts";
import { overviewOf, type OverviewParts } from "./activity-overview.ts";

const now = Date.parse("2026-01-01T12:00:00.000Z");
const parts = (given: Partial<OverviewParts>) =>
  overviewOf({
    actions: [],
    agents: [],
    jobsOf: () => ({ items: [], total: 0, dead: { items: [], total: 0 } }),
    errors: [],
    now,
    ...given,
  });
const error = (given: Partial<TraceEntry>): TraceEntry => ({
  timestamp: "2026-01-01T12:00:00.000Z",
  level: "error",
  agent: "titles",
  message: "TypeError",
  trace_id: "1",
  span_id: "1",
  ...given,
});

it("agents with problems come first, with the faulty line", () => {
  const place = { path: "/w/titles/agent.ts", line: 18 };
  const failing = agent({
    id: "b",
    last_failure: { handler: "noteSaved", message: "TypeError", at: "2026-01-01T11:41:00.000Z", place },
  });
  const { agents } = parts({ agents: [agent({ id: "a" }), failing] });
  expect(agents.map(({ id, kind }) => [id, kind])).toEqual([
    ["b", "failed"],
    ["a", "active"],
  ]);
  expect(agents[0]?.problem).toEqual({ message: "TypeError", place: "agent.ts:18", more: 0 });
});

it("an action has the time of its last change, and names its first files and its deletions", () => {
  const effects = Array.from({ length: 9 }, (_, index) =>
    effect({ path: `${index}.md`, kind: "file.delete" }),
  );
  const receipt = { applied: [0], finished: "2026-01-01T12:30:00.000Z" };
  const early = action({ id: "early", decided: "2026-01-01T12:10:00.000Z", state: "Rejected" });
  const { actions } = parts({
    actions: [early, action({ id: "late", effects, receipt, state: "Committed" })],
  });
  expect(actions.map(({ id }) => id)).toEqual(["late", "early"]);
  expect(actions[0]).toMatchObject({ at: receipt.finished, effects: 9, deletes: 9, applied: 1 });
  expect(actions[0]?.files).toHaveLength(maxFiles);
});

it("a rule that decided is named, and can be opened if a document contains it", () => {
  const rule = { sentence: "By your rule", place: { path: "/w/lares.yaml", line: 3 } };
  const { actions } = parts({
    actions: [action({ rule }), action({ id: "2", rule: { sentence: "Low impact" } })],
  });
  expect(actions.map(({ rule }) => rule?.isPlace)).toEqual([true, false]);
});

it("the same failure is listed once a day, with its count and first time", () => {
  const { failures } = parts({
    errors: [
      error({}),
      error({ timestamp: "2026-01-01T11:50:00.000Z" }),
      error({ timestamp: "2026-01-01T11:40:00.000Z", message: "RangeError" }),
    ],
  });
  expect(failures).toMatchObject([
    { message: "TypeError", count: 2, at: "2026-01-01T12:00:00.000Z", since: "2026-01-01T11:50:00.000Z" },
    { message: "RangeError", count: 1 },
  ]);
  const many = Array.from({ length: maxFailures + 9 }, (_, index) => error({ message: `${index}` }));
  expect(parts({ errors: many }).failures).toHaveLength(maxFailures);
});

it("a rejected action has the person's reason", () => {
  const said = "Not in the archive";
  const { actions } = parts({ actions: [action({ state: "Rejected", rejected_reason: said }), action({})] });
  expect(actions.map(({ rejectedReason }) => rejectedReason)).toEqual([said, undefined]);
});
