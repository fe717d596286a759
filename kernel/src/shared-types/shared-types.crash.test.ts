import { join } from "node:path";
import { expect, test } from "vitest";
import { unlimitedCpu } from "../base/cpu-budget.ts";
import { silentLog } from "../base/log.ts";
import { nothingForeign } from "../base/vocabulary/foreign.ts";
import { Slices } from "../base/slices.ts";
import { systemClock } from "../platform/clock.ts";
import { openDatabase } from "../platform/database/database.ts";
import { TestChild } from "../platform/testing/child.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { sharedTypesMigrations } from "./migrations.ts";
import type { MigrationMarks } from "./ports.ts";
import { SharedTypes } from "./shared-types.ts";

const modules = {
  "{ openDatabase }": new URL("../platform/database/database.ts", import.meta.url),
  "{ systemClock }": new URL("../platform/clock.ts", import.meta.url),
  "{ silentLog }": new URL("../base/log.ts", import.meta.url),
  "{ Slices }": new URL("../base/slices.ts", import.meta.url),
  "{ SharedTypes }": new URL("./shared-types.ts", import.meta.url),
  "{ sharedTypesMigrations }": new URL("./migrations.ts", import.meta.url),
};

const noMarks: MigrationMarks = {
  isMarked: () => false,
  reading: () => ({ foreign: nothingForeign }),
  mark: async () => undefined,
};

const type = "dev.test.counts/Count";
const declared = { name: "Count", version: 1, key: "id", schema: { type: "object" } };

/** Two agents count in the same value by compare-and-swap, and print what was acknowledged. */
const counters = (path: string): string => `
  const database = await openDatabase({ path: ${JSON.stringify(path)}, migrations: sharedTypesMigrations, log: silentLog });
  const types = new SharedTypes(database, new Slices(systemClock, 5), {
    declared: () => (${JSON.stringify(declared)}),
    misfitAmong: async () => null,
    foreign: {},
    wake: async () => undefined,
  });
  const type = ${JSON.stringify(type)};
  if ((await types.get(type, "n")) === null) await types.create("a.a", type, { id: "n", count: 1 });
  const count = async (agent) => {
    for (;;) {
      const { version, value } = await types.get(type, "n");
      try {
        const written = await types.update(agent, type, "n", version, { id: "n", count: value.count + 1, by: agent });
        say("acknowledged " + written.version);
      } catch (error) {
        if (error.code !== "Conflict") throw error;
        say("conflict");
      }
    }
  };
  await Promise.all([count("a.a"), count("a.b")]);`;

test("two agents that count by compare-and-swap lose no step over ten kills by SIGKILL", async () => {
  const path = join(await temporaryFolder(), "ledger.sqlite");
  let conflicts = 0;
  for (let round = 0; round < 10; round++) {
    const child = new TestChild(counters(path), { modules });
    await child.waitForLines(20 + round * 30);
    await child.kill();
    conflicts += child.lines.filter((line) => line === "conflict").length;
    const acknowledged = child.lines.flatMap((line) =>
      line.startsWith("acknowledged ") ? [Number(line.split(" ")[1])] : [],
    );
    await using database = await openDatabase({ path, migrations: sharedTypesMigrations, log: silentLog });
    const types = new SharedTypes(database, new Slices(systemClock, 5), {
      declared: () => declared,
      misfitAmong: async () => null,
      foreign: noMarks,
      wake: async () => undefined,
    });
    const { items } = await types.query(type, {}, { cpu: unlimitedCpu });
    const [{ version, value } = { version: 0, value: null }] = items;
    // Each step was made on the one before it.
    expect((value as { count: number }).count).toBe(version);
    expect(version).toBeGreaterThanOrEqual(Math.max(...acknowledged));
    const [{ count, characters } = { count: 0, characters: 0 }] = await types.list();
    expect([count, characters]).toEqual([1, JSON.stringify(value).length]);
  }
  expect(conflicts).toBeGreaterThan(0);
});
