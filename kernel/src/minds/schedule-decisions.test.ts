import { expect, test } from "vitest";
import { until } from "../../../test/support/until.ts";
import { Emitter } from "../base/emitter.ts";
import { notFound } from "../base/errors.ts";
import { ManualClock } from "../base/testing/manual-clock.ts";
import type { AgentDefinition } from "../base/vocabulary/agent-definition.ts";
import type { Decision } from "../base/vocabulary/approval-rule.ts";
import { type MadeSchedule, madeHandler } from "../base/vocabulary/made-schedule.ts";
import { ownAccord, personAt, type Principal } from "../base/vocabulary/principal.ts";
import { MadeSchedules } from "./made-schedules.ts";
import type { DecisionService } from "../services/ports.ts";
import { withSchedules } from "./schedule-decisions.ts";

const agent = "dev.mind";
const definitions = [{ id: agent, mind: {}, hooks: [] }] as unknown as AgentDefinition[];

const rule = (id: string, created?: string): Decision => ({
  id,
  title: id,
  rules: [],
  used: 0,
  ...(created === undefined ? {} : { created }),
});

async function bed() {
  const stored = new Map<string, MadeSchedule>();
  const clock = new ManualClock("2026-11-20T12:00:00.000Z");
  const schedules = await MadeSchedules.open({
    clock,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    rows: {
      all: async () => [...stored.values()],
      store: async (schedule) => void stored.set(schedule.id, schedule),
      forget: async (id) => void stored.delete(id),
    },
    hookOf: (schedule) => ({ handler: madeHandler(schedule) }) as never,
    ask: async ({ prompt }) => prompt !== "Refused",
  });
  let hooks = 0;
  await schedules
    .before({ apply: async (given) => void (hooks = given?.[0]?.hooks.length ?? 0) })
    .apply(definitions);
  const service: DecisionService = {
    changed: new Emitter<void>(),
    list: async () => [
      rule("new", "2026-11-21T00:00:00Z"),
      rule("old", "2026-11-01T00:00:00Z"),
      rule("by hand"),
    ],
    revoke: async (_by, id) => Promise.reject(notFound("decision", id)),
  };
  const decisions = withSchedules(service, schedules);
  let changes = 0;
  decisions.changed.on(() => changes++);
  const propose = async (id: string, prompt: string): Promise<void> => {
    const when = { cron: "0 8 * * *", timezone: "Europe/Berlin" };
    await schedules.propose({ id, agent, conversation: "c", prompt, when, sources: [] });
  };
  return { schedules, decisions, stored, propose, hooks: () => hooks, changes: () => changes };
}

const person = personAt("test");

test("schedules that a person accepted are listed among the decisions, with their runs", async () => {
  const { schedules, decisions, propose, stored, changes } = await bed();
  await propose("s1", "Refused");
  await propose("s2", "What changed?");
  await until("both are decided", () => stored.size === 1 && changes() === 1);
  const ids = async () => (await decisions.list()).map(({ id }) => id);
  expect(await ids()).toEqual(["new", "s2", "old", "by hand"]);
  expect((await decisions.list())[1]).toEqual({
    id: "s2",
    agent,
    title:
      'Allow dev.mind to begin a conversation by itself, at the times "0 8 * * *" (Europe/Berlin): "What changed?"',
    rules: [],
    created: "2026-11-20T12:00:00.000Z",
    used: 0,
  });
  await schedules.ran(madeHandler({ id: "s2" }));
  expect((await decisions.list())[1]).toMatchObject({ used: 1, last_used: "2026-11-20T12:00:00.000Z" });
  expect(stored.get("s2")?.runs?.count).toBe(1);
});

test("a schedule that a person revokes runs no more; nobody else revokes one", async () => {
  const { decisions, propose, stored, hooks, changes } = await bed();
  await propose("s1", "What changed?");
  await until("it is accepted", () => hooks() === 1);
  const mind: Principal = { kind: "agent", agent, lineage: ownAccord } as never;
  await expect(decisions.revoke(mind, "s1")).rejects.toMatchObject({ code: "PermissionDenied" });
  expect(hooks()).toBe(1);
  expect(await decisions.revoke(person, "s1")).toMatchObject({ id: "s1" });
  expect([hooks(), stored.size, changes()]).toEqual([0, 0, 2]);
  await expect(decisions.revoke(person, "s1")).rejects.toMatchObject({ code: "NotFound" });
});
