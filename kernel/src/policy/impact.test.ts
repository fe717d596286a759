import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { changedShare, impactOf, rowBytes, type ImpactFacts } from "./impact.ts";

const MiB = 1048576;

/** The published examples: what a person can hold the formula to. */
const fixtures: readonly [name: string, effects: ImpactFacts[], impact: number][] = [
  ["nothing", [], 0],
  ["one tag", [{ kind: "metadata" }], 0.002],
  ["ten tags", Array.from({ length: 10 }, () => ({ kind: "metadata" as const })), 0.0198],
  ["an empty folder", [{ kind: "folder" }], 0.01],
  ["a new empty file", [{ kind: "create" }], 0.03],
  ["a new file of 1 MiB", [{ kind: "create", bytes: MiB }], 0.05],
  ["a new file of 64 MiB", [{ kind: "create", bytes: 64 * MiB }], 0.1504],
  ["a move", [{ kind: "move" }], 0.04],
  ["two moves", [{ kind: "move" }, { kind: "move" }], 0.0784],
  ["five moves", Array.from({ length: 5 }, () => ({ kind: "move" as const })), 0.1846],
  ["six moves pass a threshold of 0.2", Array.from({ length: 6 }, () => ({ kind: "move" as const })), 0.2172],
  ["a move of a folder of 15 files", [{ kind: "move", files: 15 }], 0.08],
  ["a move of a folder of 1,023 files", [{ kind: "move", files: 1023 }], 0.14],
  ["an edit of 1 % of a small file", [{ kind: "edit", changedShare: 0.01, bytes: 100 }], 0.0525],
  ["an edit of half of it", [{ kind: "edit", changedShare: 0.5 }], 0.175],
  ["an edit of all of it", [{ kind: "edit", changedShare: 1 }], 0.3],
  ["an overwrite with the same", [{ kind: "overwrite", changedShare: 0 }], 0.1],
  ["an overwrite of half", [{ kind: "overwrite", changedShare: 0.5 }], 0.275],
  ["an overwrite of all", [{ kind: "overwrite", changedShare: 1 }], 0.45],
  ["an overwrite of all of 3 MiB", [{ kind: "overwrite", changedShare: 1, bytes: 3 * MiB }], 0.49],
  ["a delete of a small file", [{ kind: "delete" }], 0.6],
  ["a delete of a duplicate", [{ kind: "delete", copyRemains: true }], 0.2],
  ["a delete of 1 GiB", [{ kind: "delete", bytes: 1024 * MiB }], 0.8],
  ["two deletes", [{ kind: "delete" }, { kind: "delete" }], 0.84],
  ["a tag on a protected file", [{ kind: "metadata", protected: true }], 0.9],
  ["an edit of a protected file", [{ kind: "edit", changedShare: 0.1, protected: true }], 0.9],
  ["a move and an edit", [{ kind: "move" }, { kind: "edit", changedShare: 0.5 }], 0.208],
];

describe("impactOf", () => {
  test.each(fixtures)("%s", (_name, effects, impact) => {
    expect(impactOf(effects)).toBe(impact);
  });

  const anyEffect: fc.Arbitrary<ImpactFacts> = fc.record(
    {
      kind: fc.constantFrom("metadata", "folder", "create", "move", "edit", "overwrite", "delete"),
      changedShare: fc.double({ min: 0, max: 1, noNaN: true }),
      bytes: fc.nat({ max: 2 ** 31 - 1 }),
      files: fc.nat({ max: 100_000 }),
      copyRemains: fc.boolean(),
      protected: fc.boolean(),
    },
    { requiredKeys: ["kind"] },
  );
  const anyEffects = fc.array(anyEffect, { maxLength: 30 });

  test("lies between 0 and 1, and an effect more never lowers it", () => {
    fc.assert(
      fc.property(anyEffects, anyEffect, (effects, more) => {
        const impact = impactOf(effects);
        expect(impact).toBeGreaterThanOrEqual(0);
        expect(impact).toBeLessThanOrEqual(1);
        expect(impactOf([...effects, more])).toBeGreaterThanOrEqual(impact);
      }),
    );
  });

  test("does not depend on the order of effects", () => {
    fc.assert(
      fc.property(anyEffects, (effects) => {
        expect(impactOf(effects.toReversed())).toBeCloseTo(impactOf(effects), 3);
      }),
    );
  });

  test("grows with the share, the bytes, the files, and with protection", () => {
    fc.assert(
      fc.property(
        anyEffect,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.nat({ max: 1e9 }),
        (effect, share, bytes) => {
          const impact = impactOf([effect]);
          expect(
            impactOf([{ ...effect, changedShare: Math.max(share, effect.changedShare ?? 0) }]),
          ).toBeGreaterThanOrEqual(impact);
          expect(impactOf([{ ...effect, bytes: bytes + (effect.bytes ?? 0) }])).toBeGreaterThanOrEqual(
            impact,
          );
          expect(impactOf([{ ...effect, protected: true }])).toBeGreaterThanOrEqual(impact);
        },
      ),
    );
  });

  test("ranks the kinds: delete over overwrite over edit over move over create over metadata", () => {
    const order: ImpactFacts["kind"][] = ["delete", "overwrite", "edit", "move", "create", "metadata"];
    const scores = order.map((kind) => impactOf([{ kind, changedShare: 0.5, bytes: 1000 }]));
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect(new Set(scores).size).toBe(order.length);
  });
});

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const line = "a line as a person writes it\n";

test.each([
  ["nothing", "", "", 0],
  ["the same", line, line, 0],
  ["a file that was empty", "", "new", 1],
  ["one of four lines", line.repeat(4), `${line}other\n${line.repeat(2)}`, 0.25],
  ["a line more after three", line.repeat(3), line.repeat(4), 0.25],
  ["all of it", "abc", "xyz", 1],
  [
    "one row of ten in a single long line",
    "a".repeat(10 * rowBytes),
    `${"a".repeat(10 * rowBytes - 5)}b${"a".repeat(4)}`,
    0.1 / 8,
  ],
  ["one word of a line of JSON", '{"name":"lares","port":8080}', '{"name":"lares","port":9090}', 1 / 8],
  ["half of a line", "one two three four\n", "one two 3333333333\n", 5 / 8],
  ["a whole line", "one two three four\n", "11111111111111111!\n", 1],
  ["a few characters more in a short line", "[1,2,3,4,5,6,7,8,9,0]", "[1,2,3,4,5,6,7,8,9,0,1]", 1 / 8],
  [
    "one word in one of four lines",
    `${line}${line.repeat(3)}`,
    `${line.repeat(3)}a lime as a person writes it\n`,
    1 / 32,
  ],
])("changedShare of %s", (_name, before, after, share) => {
  expect(changedShare(bytes(before), bytes(after))).toBeCloseTo(share, 6);
  expect(changedShare(bytes(after), bytes(before))).toBeCloseTo(share, 6);
});

test("the same change scores the same for a longer file name", () => {
  const note = line.repeat(3);
  const withHeading = (heading: string) => bytes(`# ${heading}\n\n${note}`);
  const share = changedShare(bytes(note), withHeading("Walks"));
  expect(share).toBeCloseTo(0.4, 6);
  expect(
    changedShare(bytes(note), withHeading("A walk along the river and back over the hill in March")),
  ).toBe(share);
});

test("a share is between 0 and 1, and a difference never scores 0", () => {
  const text = fc.array(fc.constantFrom("", "a", "b", "a".repeat(rowBytes + 1)), { maxLength: 12 });
  fc.assert(
    fc.property(text, text, (one, other) => {
      const [before, after] = [one.join("\n"), other.join("\n")];
      const share = changedShare(bytes(before), bytes(after));
      expect(share).toBeLessThanOrEqual(1);
      expect(share > 0).toBe(before !== after);
    }),
  );
});
