import { expect, test } from "vitest";
import { egressBounds as bounds } from "../bounds.ts";
import { Lookups, type ResolvedAddress } from "./lookups.ts";

/** Names that are answered when `answer` is called. */
function slowNames() {
  const asked: string[] = [];
  const waiting: (() => void)[] = [];
  const lookups = new Lookups(
    (host) =>
      new Promise<readonly ResolvedAddress[]>((resolve, reject) => {
        asked.push(host);
        waiting.push(() =>
          host.startsWith("gone")
            ? reject(new Error("ENOTFOUND"))
            : resolve([{ address: "93.184.216.34", family: 4 }]),
        );
      }),
  );
  return { lookups, asked, answer: () => waiting.shift()?.() };
}

test("a name is looked up once at a time, and again afterwards", async () => {
  const { lookups, asked, answer } = slowNames();
  const both = [lookups.of("slow.test", true), lookups.of("slow.test", true)];
  expect(asked).toEqual(["slow.test"]);
  answer();
  expect(await Promise.all(both)).toHaveLength(2);
  void lookups.of("slow.test", true);
  expect(asked).toEqual(["slow.test", "slow.test"]);
});

test("names of agents that nobody answers for do not hold up a provider's", async () => {
  const { lookups, asked, answer } = slowNames();
  const names = Array.from(
    { length: 3 * bounds.maxAgentLookups },
    (_, n) => `${n % 2 === 0 ? "gone" : "slow"}${n}.test`,
  );
  const agents = Promise.allSettled(names.map((name) => lookups.of(name, true)));
  expect(asked).toHaveLength(bounds.maxAgentLookups);
  void lookups.of("api.test", false);
  expect(asked.at(-1)).toBe("api.test");
  // A waiting lookup gets its turn when another one has ended, with or without an address.
  while (asked.length <= names.length) {
    const before = asked.length;
    answer();
    for (let turn = 0; turn < 20 && asked.length === before; turn++) await Promise.resolve();
    if (asked.length === before && before > names.length) break;
  }
  for (let n = 0; n <= bounds.maxAgentLookups; n++) answer();
  const ends = await agents;
  expect(ends.filter(({ status }) => status === "rejected")).toHaveLength(names.length / 2);
});
