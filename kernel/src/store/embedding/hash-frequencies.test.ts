import { deflateRawSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { DocumentFrequencies } from "./hash-frequencies.ts";
import { wordHashes } from "./hash-features.ts";

const learned = (texts: readonly string[]): DocumentFrequencies => {
  const frequencies = new DocumentFrequencies();
  for (const text of texts) frequencies.add(text);
  return frequencies;
};
const rarity = (frequencies: DocumentFrequencies, word: string): number =>
  frequencies.rarity([...wordHashes(word)][0] ?? 0);

test("a word that no text contains has weight 1, one that all contain nearly 0", () => {
  expect(rarity(learned([]), "zebra")).toBe(1);
  const frequencies = learned(Array.from({ length: 100 }, (_, index) => `holiday ${index}`));
  expect(rarity(frequencies, "zebra")).toBe(1);
  expect(rarity(frequencies, "holiday")).toBeLessThan(0.01);
  expect(rarity(frequencies, "7")).toBeGreaterThan(0.5);
});

test("only the texts that were added and not removed count, not their order", () => {
  fc.assert(
    fc.property(fc.array(fc.lorem()), fc.array(fc.lorem()), (kept, gone) => {
      const one = learned([...gone, ...kept]);
      for (const text of gone) one.remove(text);
      const other = learned(kept.toReversed());
      expect(one.bytes()).toEqual(other.bytes());
      expect(one.documents).toBe(kept.length);
    }),
  );
});

test("saved statistics are restored unchanged", () => {
  const frequencies = learned(["anna likes the sea", "anna went to the mountains"]);
  const other = new DocumentFrequencies();
  expect(other.load(frequencies.bytes())).toBe(true);
  expect(other.documents).toBe(2);
  expect(other.bytes()).toEqual(frequencies.bytes());
});

test.each<[string, (good: Uint8Array) => Uint8Array]>([
  ["nothing", () => new Uint8Array()],
  ["a file cut short", (good) => good.subarray(0, good.length - 3)],
  ["another file", () => Buffer.from("SQLite format 3\0 and more of it")],
  [
    "a count that was changed",
    (good) => {
      const bad = Buffer.from(good);
      bad[bad.length - 20] = (bad[bad.length - 20] ?? 0) ^ 1;
      return bad;
    },
  ],
  ["a bomb", (good) => Buffer.concat([good.subarray(0, 12), deflateRawSync(Buffer.alloc(64 * 1024 * 1024))])],
])("%s is rejected, and the old statistics are dropped", (_, spoil) => {
  const frequencies = learned(["some text", "and another"]);
  expect(frequencies.load(spoil(frequencies.bytes()))).toBe(false);
  expect(frequencies.documents).toBe(0);
  expect(frequencies.bytes()).toEqual(new DocumentFrequencies().bytes());
});

test("the bytes stay bounded, however many texts there are", () => {
  const frequencies = learned(
    Array.from({ length: 20_000 }, (_, index) => `w${index} x${index * 7} y${index * 31}`),
  );
  expect(frequencies.bytes().length).toBeLessThan(300_000);
});

test("removing more than was added leaves nothing below zero", () => {
  const frequencies = learned(["one"]);
  for (let round = 0; round < 3; round += 1) frequencies.remove("one two");
  expect(frequencies.documents).toBe(0);
  expect(rarity(frequencies, "two")).toBe(1);
});
