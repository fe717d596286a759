import { join } from "node:path";
import { expect, test } from "vitest";
import { silentLog } from "../base/log.ts";
import { systemClock } from "../platform/clock.ts";
import { openDatabase } from "../platform/database/database.ts";
import { failpointNames } from "../platform/failpoints.ts";
import { TestChild } from "../platform/testing/child.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { interrupted, KeyedCalls, keyedCallMigrations } from "./keyed-calls.ts";

const modules = {
  "{ openDatabase }": new URL("../platform/database/database.ts", import.meta.url),
  "{ systemClock }": new URL("../platform/clock.ts", import.meta.url),
  "{ silentLog }": new URL("../base/log.ts", import.meta.url),
  "{ KeyedCalls, keyedCallMigrations }": new URL("./keyed-calls.ts", import.meta.url),
};

/** Makes calls with the keys 0, 1, 2, …; prints for each that its handler ran, and that its caller was answered. */
const caller = (path: string): string => `
  const database = await openDatabase({ path: ${JSON.stringify(path)}, migrations: keyedCallMigrations, log: silentLog });
  const calls = await KeyedCalls.open(database, systemClock);
  for (let key = 0; ; key++) {
    const result = await calls.run({ caller: "a.b", key: String(key), identity: null, depth: 0 }, async (begun) => {
      await begun();
      say("ran " + key);
      return { status: "success", value: key };
    });
    say("answered " + result.value);
  }`;

test.each(failpointNames.filter((name) => name.startsWith("tools.call.")))(
  "race: a caller that dies at %s and repeats all its calls runs no handler twice, and each answer stays the same",
  async (name) => {
    const path = join(await temporaryFolder(), "ledger.sqlite");
    const child = new TestChild(caller(path), { modules, failpoint: `${name}@5` });
    expect(await child.ended()).toBe("SIGKILL");
    const keysOf = (what: string) =>
      child.lines.filter((line) => line.startsWith(`${what} `)).map((line) => line.slice(what.length + 1));
    const ran = keysOf("ran");
    const answered = new Set(keysOf("answered"));
    expect(answered.size).toBeGreaterThan(2);

    await using database = await openDatabase({ path, migrations: keyedCallMigrations, log: silentLog });
    const calls = await KeyedCalls.open(database, systemClock);
    const again: string[] = [];
    for (const key of ran) {
      const result = await calls.run({ caller: "a.b", key, identity: null, depth: 0 }, async (begun) => {
        await begun();
        again.push(key);
        return { status: "success", value: "again" };
      });
      const first = { status: "success", value: Number(key) };
      if (answered.has(key)) expect(result).toEqual(first);
      else expect([first, interrupted]).toContainEqual(result);
    }
    expect(again).toEqual([]);
  },
);
