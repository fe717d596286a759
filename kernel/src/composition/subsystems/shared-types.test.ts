import { expect, onTestFinished, test } from "vitest";
import { ForeignPlaces } from "../../agent-state/foreign-places.ts";
import { agentStateMigrations } from "../../agent-state/migrations.ts";
import { OpenCalls } from "../../agents/calls/open-calls.ts";
import type { AgentRoster } from "../../agents/lifecycle/roster.ts";
import { silentLog } from "../../base/log.ts";
import type { AgentDefinition } from "../../base/vocabulary/agent-definition.ts";
import type { Foreign } from "../../base/vocabulary/foreign.ts";
import { systemClock } from "../../platform/clock.ts";
import { openNearDatabase } from "../../platform/testing/near-database.ts";
import { sharedTypesMigrations } from "../../shared-types/migrations.ts";
import { openSharedTypes } from "./shared-types.ts";

const owner = "dev.test.photos";
const place = `type ${owner}/Person`;
const web: Foreign = { "agent:web": "all" };

test("a program that migrates marked values has read them before it answers, and what it writes is marked", async () => {
  const database = await openNearDatabase({
    path: ":memory:",
    migrations: [...agentStateMigrations, ...sharedTypesMigrations],
    log: silentLog,
  });
  onTestFinished(() => database[Symbol.asyncDispose]());
  const places = await ForeignPlaces.open(database);
  const open = new OpenCalls();
  const definition = { id: owner, types: [{ name: "Person", version: 1, key: "id", schema: {} }] };
  const agent = {
    definition: definition as unknown as AgentDefinition,
    hear: (foreign: Foreign) => {
      open.hear(foreign);
      return open.read;
    },
  };
  const agents = { find: () => agent, get: () => agent } as unknown as AgentRoster;
  const { sharedTypes, adoptTypes } = openSharedTypes(
    { clock: systemClock },
    { database, agents, places, tools: { verdictOfAll: async () => ({ kind: "fits" }) } },
  );
  for (const id of ["ada", "bob"]) await sharedTypes.create(owner, `${owner}/Person`, { id, text: id });
  await places.replacing(place, web, async () => undefined, "ada");
  const read: [string, Foreign][] = [];
  const newer = { ...definition, types: [{ ...definition.types[0]!, version: 2 }] };
  agent.definition = newer as unknown as AgentDefinition;
  await adoptTypes(agent.definition, new Set(["Person"]), async ({ values }) => {
    const texts = (values as { id: string; text: string }[]).map(({ id, text }) => ({
      id,
      text: `${text}!`,
    }));
    for (const { id } of texts) read.push([id, open.foreign]);
    return { values: texts };
  });
  expect(read).toEqual([
    ["bob", {}],
    ["ada", web],
  ]);
  expect([places.of(place, ["bob"]), places.of(place, ["ada"])]).toEqual([{}, web]);
  // The next type's values are written by a program that has read it.
  agent.definition = {
    ...definition,
    types: [{ ...definition.types[0]!, version: 3 }],
  } as unknown as AgentDefinition;
  await adoptTypes(agent.definition, new Set(["Person"]), async ({ values }) => ({
    values: (values as { id: string }[]).map(({ id }) => ({ id, text: "what it has read" })),
  }));
  expect(places.of(place, ["bob"])).toEqual(web);
  // After a restart, too.
  expect((await ForeignPlaces.open(database)).of(place, ["bob"])).toEqual(web);
});
