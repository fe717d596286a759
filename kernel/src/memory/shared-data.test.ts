import { expect, onTestFinished, test } from "vitest";
import { isLaresError } from "../base/errors.ts";
import { silentLog } from "../base/log.ts";
import { openNearDatabase } from "../platform/testing/near-database.ts";
import { SharedData, sharedDataLimits, sharedDataMigrations } from "./shared-data.ts";

async function shared(): Promise<SharedData> {
  const database = await openNearDatabase({
    path: ":memory:",
    migrations: sharedDataMigrations,
    log: silentLog,
  });
  onTestFinished(() => database[Symbol.asyncDispose]());
  return new SharedData(database);
}

const agent = "dev.test.agent";

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => (isLaresError(error) ? [error.code, error.facts] : error),
  );

test("a value is read as written, and its version counts the writes", async () => {
  const data = await shared();
  expect(await data.read("people")).toBeNull();
  expect(await data.write(agent, "people", { names: ["Ada"], none: null })).toBe(1);
  expect(await data.write(agent, "people", 0)).toBe(2);
  expect(await data.read("people")).toEqual({ version: 2, value: 0 });
  expect(await data.read("other")).toBeNull();
});

test("a write that names a version succeeds only if that is the current one", async () => {
  const data = await shared();
  expect(await data.write(agent, "k", "a", 0)).toBe(1);
  expect(await refusal(data.write(agent, "k", "b", 0))).toEqual(["Conflict", { revision: 1 }]);
  expect(await data.write(agent, "k", "b", 1)).toBe(2);
  expect(await data.read("k")).toEqual({ version: 2, value: "b" });
});

test("of concurrent writes that name the same version, one succeeds", async () => {
  const data = await shared();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, each) => refusal(data.write(agent, "k", each, 0))),
  );
  expect(answers.filter((answer) => answer === null)).toHaveLength(1);
  expect(await data.read("k")).toEqual({ version: 1, value: 0 });
});

test("a value that is too large is refused, and the old one stays", async () => {
  const data = await shared();
  const { keys, valueCharacters } = sharedDataLimits;
  const fits = "x".repeat(valueCharacters - 2);
  await data.write(agent, "k", fits);
  expect(await refusal(data.write(agent, "k", `${fits}x`))).toEqual([
    "LimitExceeded",
    { limit: "shared_value", value: valueCharacters + 1 },
  ]);
  expect((await data.read("k"))?.version).toBe(1);
  await Promise.all(Array.from({ length: keys - 1 }, (_, each) => data.write(agent, `k${each}`, 0)));
  expect(await refusal(data.write(agent, "one more", 0))).toMatchObject([
    "LimitExceeded",
    { limit: "shared_data" },
  ]);
  expect(await data.write(agent, "k", 0)).toBe(2);
});

test("an agent at its limit does not reduce the others' quota, and reveals nothing to them", async () => {
  const data = await shared();
  const { keys } = sharedDataLimits;
  await Promise.all(Array.from({ length: keys }, (_, each) => data.write(agent, `k${each}`, 0)));
  expect(await refusal(data.write(agent, "one more", 0))).toMatchObject(["LimitExceeded", {}]);
  expect(await data.write("dev.test.other", "theirs", 0)).toBe(1);
  // A value counts for the agent that wrote it last.
  expect(await data.write("dev.test.other", "k0", "taken over")).toBe(2);
  expect(await data.write(agent, "one more", 0)).toBe(1);
});
