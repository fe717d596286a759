import { expect, test } from "vitest";
import { silentLog } from "../base/log.ts";
import { openNearDatabase } from "../platform/testing/near-database.ts";
import { decisionMigrations, DecisionUses } from "./uses.ts";

const open = () => openNearDatabase({ path: ":memory:", migrations: decisionMigrations, log: silentLog });

test("each use counts once, with the time of the last one, in the transaction of the caller", async () => {
  await using database = await open();
  let now = 1_000;
  const uses = new DecisionUses(database, { now: () => now });
  await database.batch(uses.used([{ decision: "one" }, {}, { decision: "two" }, { decision: "one" }]));
  now = 2_000;
  await database.batch(uses.used([{ decision: "one" }]));
  // A failed transaction counts nothing.
  await expect(
    database.batch([
      ...uses.used([{ decision: "two" }]),
      { sql: "DELETE FROM decision_uses", expectChanges: 5 },
    ]),
  ).rejects.toThrow("5 were expected");
  expect(await uses.read()).toEqual(
    new Map([
      ["one", { count: 2, last: 2_000 }],
      ["two", { count: 1, last: 1_000 }],
    ]),
  );
});

test("counts of decisions that no longer exist are deleted", async () => {
  await using database = await open();
  const uses = new DecisionUses(database, { now: () => 0 });
  await database.batch(uses.used([{ decision: "one" }, { decision: "two" }, { decision: "three" }]));
  await uses.keepOnly(["two", "four"]);
  expect([...(await uses.read()).keys()]).toEqual(["two"]);
  await uses.keepOnly([]);
  expect((await uses.read()).size).toBe(0);
});
