import { expect, test } from "vitest";
import { MetricsRecorder } from "../../agents/metrics.ts";
import type { Agent } from "../../base/vocabulary/agent.ts";
import type { AgentService } from "../../services/ports.ts";
import type { Session } from "../session/session.ts";
import { agentLenses, maxPlaces } from "./agent-lenses.ts";
import type { AgentPlace } from "../../base/vocabulary/editing.ts";
import type { NavigationService } from "../../services/editing.ts";

const uri = "file:///w/extension.yaml";
const range = { start: { line: 3, character: 2 }, end: { line: 3, character: 9 } };
const agent: Agent = {
  id: "test.a",
  name: "A",
  version: "1.0.0",
  state: "Active",
  since: "2026-11-21T12:00:00.000Z",
  hooks: [
    { handler: "seen", on: "EntryCreated", filter: "a" },
    { handler: "seen", on: "EntryCreated", filter: "b" },
    { handler: "tidy", schedule: "@daily", nextRun: "2026-11-22T00:00:00.000Z" },
  ],
  tools: [],
  permissions: [],
  locations: ["."],
  metrics: new MetricsRecorder().snapshot({ temporalEvents: 0, knowledgeItems: 0, sizeBytes: 0 }, 3),
};

const today: Readonly<Record<string, number>> = { "seen EntryCreated": 2, "tidy ScheduleFired": 1 };

async function titles(
  changes: Partial<Agent>,
  places: readonly AgentPlace[] = [{ range, agent: "test.a" }],
  { trusted = true } = {},
): Promise<string[]> {
  const navigation = {
    handles: () => true,
    agentPlaces: async (_document: unknown, limit: number) => places.slice(0, limit),
  } as Partial<NavigationService>;
  const agents = {
    list: () => [{ ...agent, ...changes }],
    eventsToday: (_id: string, handler: string, event: string) => today[`${handler} ${event}`] ?? 0,
  };
  const session = { trusted, documents: { text: () => "" } };
  const lenses = await agentLenses(
    navigation as NavigationService,
    agents as Partial<AgentService> as AgentService,
    { textDocument: { uri } },
    session as unknown as Session,
  );
  return lenses.map(({ command }) => command?.title ?? "");
}

test("an extension shows the events its agent handled today, a hook its own", async () => {
  expect(await titles({})).toEqual(["Active · 3 events today", "Reload", "Suspend", "Show traces"]);
  const hook = { handler: "seen", event: "EntryCreated" };
  expect((await titles({}, [{ range, agent: "test.a", hook }]))[0]).toBe("Active · 2 events today");
});

test("a suspended schedule shows why, and is resumed by its place", async () => {
  const suspended = { since: "2026-11-21T12:00:00.000Z", error: "It is \u001bbroken." };
  const hooks = agent.hooks.map((hook, at) =>
    at === 2 ? { handler: hook.handler, schedule: "@daily", suspended } : hook,
  );
  const hook = { handler: "tidy", event: "ScheduleFired" };
  const found = await titles({ hooks }, [{ range, agent: "test.a", hook }]);
  expect(found[0]).toMatch(/^Active · 1 event today · schedule suspended: It is .broken\.$/);
  expect(found.slice(1)).toEqual(["Reload", "Resume Schedule", "Show traces"]);
});

test("a schedule shows its next run, and a single event is written in the singular", async () => {
  const hook = { handler: "tidy", event: "ScheduleFired" };
  expect((await titles({}, [{ range, agent: "test.a", hook }]))[0]).toBe(
    "Active · 1 event today · next run 2026-11-22 00:00 UTC",
  );
});

test.each<[string, Partial<Agent>, string]>([
  ["an agent that nothing has woken", { state: "Unloaded" }, "Asleep"],
  ["a disabled agent", { state: "Unloaded", disabled: true }, "Off"],
  [
    "an agent that nobody has accepted",
    { state: "Error", awaiting: "acceptance", error: "no" },
    "Needs your permission",
  ],
])("the state shown for %s", async (_name, changes, word) => {
  expect((await titles(changes))[0]).toBe(`${word} · 3 events today`);
});

test("a suspended agent can be resumed", async () => {
  expect((await titles({ state: "Suspended" })).slice(2)).toEqual(["Resume", "Show traces"]);
});

test("an error's reason is untrusted: plain, on one line, cut", async () => {
  const [title] = await titles({ state: "Error", error: `no\u001b[2J\n[x](command:y) ${"z".repeat(200)}` });
  expect((await titles({ state: "Error", error: "$(check) all is well" }))[0]).toContain("$ (check)");
  expect(title).toMatch(/^Error: no␛\[2J \[x\] \(command:y\) z+… · 3 events today$/);
});

test("an unknown agent and an unknown hook have no lens", async () => {
  expect(await titles({ id: "test.other" })).toEqual([]);
  const hook = { handler: "seen", event: "EntryDeleted" };
  expect(await titles({}, [{ range, agent: "test.a", hook }])).toEqual([]);
});

test("a document with very many places has lenses only at the first ones", async () => {
  const places = Array.from({ length: maxPlaces + 5 }, () => ({ range, agent: "test.a" }));
  expect(await titles({}, places)).toHaveLength(maxPlaces * 4);
  expect(await titles({}, places, { trusted: false })).toHaveLength(maxPlaces);
});
