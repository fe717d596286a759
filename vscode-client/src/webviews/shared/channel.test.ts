import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { isWithin, readAs, Told, type Bounds } from "./channel.ts";

const small: Bounds = { maxValues: 50, maxCharacters: 100 };

describe("isWithin", () => {
  it.each([
    ["a scalar", 1, true],
    ["nothing", undefined, true],
    ["a text up to the bound", "x".repeat(100), true],
    ["a text beyond it", "x".repeat(101), false],
    ["texts that are beyond it together", Array.from({ length: 11 }, () => "x".repeat(10)), false],
    ["long keys", { ["k".repeat(101)]: 1 }, false],
    ["a list beyond the bound", Array.from({ length: 60 }, () => 0), false],
    ["an object beyond the bound", Object.fromEntries(Array.from({ length: 40 }, (_, i) => [i, i])), false],
  ])("%s", (_name, value, expected) => expect(isWithin(value, small)).toBe(expected));

  it("does not recurse: a value of the maximum depth causes no stack overflow", () => {
    let deep: unknown = 0;
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(isWithin(deep, { maxValues: 200_000, maxCharacters: 10 })).toBe(true);
    expect(isWithin(deep, small)).toBe(false);
  });

  it("says no to whatever has more characters than allowed", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const characters = JSON.stringify(value).length;
        if (characters <= small.maxCharacters && characters <= small.maxValues)
          expect(isWithin(value, small)).toBe(true);
      }),
    );
  });
});

describe("readAs", () => {
  it("leaves out members that the schema does not name, so that none reaches the kernel", () =>
    expect(readAs(v.object({ agent: v.string() }), { agent: "a", path: "/etc" })).toEqual({
      value: { agent: "a" },
    }));

  it.each([
    [{ answer: 0, result: 1 }],
    [{ answer: "1", result: 1 }],
    [{ answer: 1, failure: { message: "x".repeat(3_000) } }],
    [{ push: "x".repeat(65), params: {} }],
    [null],
    [[]],
  ])("is not a message of the extension: %j", (message) => expect(readAs(Told, message)).toBeUndefined());

  it("takes an answer without a result for a failure only where it says so", () => {
    expect(readAs(Told, { answer: 1, failure: { message: "no" } })?.value).toHaveProperty("failure");
    expect(readAs(Told, { answer: 1, result: { failure: 1 } })?.value).not.toHaveProperty("failure");
  });
});
