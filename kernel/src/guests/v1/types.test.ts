import { expect, onTestFinished, test } from "vitest";
import { ForeignPlaces } from "../../agent-state/foreign-places.ts";
import { agentStateMigrations } from "../../agent-state/migrations.ts";
import type { Caller } from "../../agents/ports.ts";
import { neverAborted } from "../../base/abort.ts";
import { invalidParams } from "../../base/errors.ts";
import { silentLog } from "../../base/log.ts";
import { bothForeign, type Foreign } from "../../base/vocabulary/foreign.ts";
import { openNearDatabase } from "../../platform/testing/near-database.ts";
import { type TypePorts, typeServices } from "./types.ts";

const type = "a.b/Person";
const web: Foreign = { "agent:web": "all" };
const blog: Foreign = { "agent:blog": "all" };

async function bench(query: TypePorts["sharedTypes"]["query"]) {
  const database = await openNearDatabase({
    path: ":memory:",
    migrations: agentStateMigrations,
    log: silentLog,
  });
  onTestFinished(() => database[Symbol.asyncDispose]());
  const places = await ForeignPlaces.open(database);
  const refuse = () => Promise.reject(invalidParams("/born does not fit.", { path: "/born/0/year" }));
  const services = typeServices({
    sharedTypes: {
      create: refuse,
      update: refuse,
      get: async () => null,
      remove: async () => undefined,
      query,
    },
    foreign: { places },
  });
  let heard: Foreign = {};
  const hear = (foreign: Foreign): void => void (heard = bothForeign(heard, foreign));
  const caller = { agent: "a.b", signal: neverAborted, hear } as unknown as Caller;
  return { services, places, caller, heard: () => heard };
}

test("a query tells whoever asks what the page's values hold, as it was when they were read", async () => {
  const { services, places, caller, heard } = await bench(async (_type, _query, { read, found }) => {
    read?.(["ada", "bob", "eve"]);
    // Replaced in the meantime by a value without marks.
    await places.replacing(`type ${type}`, {}, async () => undefined, "ada");
    found?.(["ada", "bob"]);
    return { items: [] };
  });
  await places.replacing(`type ${type}`, web, async () => undefined, "ada");
  await places.replacing(`type ${type}`, blog, async () => undefined, "eve");
  await services["types/query"](caller, { type });
  expect(heard()).toEqual(web);
});

test("the place of a fault in a value is named as in the call's params", async () => {
  const { services, caller } = await bench(async () => ({ items: [] }));
  await expect(services["types/create"](caller, { type, value: {} })).rejects.toMatchObject({
    code: "InvalidParams",
    facts: { path: "params.value.born[0].year" },
  });
});
