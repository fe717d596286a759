import { expect, test } from "vitest";
import { canBeAskedFor, filledTitle, listedTitle, placeholdersOf } from "./named-action.ts";

test("a title shows its parameters' values, and an ellipsis for each that is missing", () => {
  expect(filledTitle("Create album {name}", { name: "Summer" })).toBe("Create album Summer");
  expect(filledTitle("Keep {count} of {all}", { count: 3, all: ["a"] })).toBe('Keep 3 of ["a"]');
  expect(listedTitle("Create album {name}")).toBe("Create album …");
  expect(filledTitle("{toString} {__proto__}", {})).toBe("… …");
  expect(placeholdersOf("Move {from} to {to_folder}, { not this }")).toEqual(["from", "to_folder"]);
});

test("values cannot break a title into lines, hide in it, make it long, or be filled in twice", () => {
  expect(filledTitle("A {name}", { name: "x\n\u0007y" })).toBe("A x ␇y");
  expect(filledTitle("A {name}", { name: "\u202e" })).not.toContain("\u202e");
  expect(filledTitle("A {name}", { name: "z".repeat(1000) })).toHaveLength(82);
  expect(filledTitle("{a}{a}{a}{a}", { a: "z".repeat(1000) })).toHaveLength(200);
  expect(filledTitle("{a}", { a: "{b}", b: "no" })).toBe("{b}");
  expect(filledTitle("{a}", { a: "$&$1" })).toBe("$&$1");
});

test("a person can be asked for plain parameters; others need not be there", () => {
  const asked = (required: unknown, properties: unknown): boolean => canBeAskedFor({ required, properties });
  expect(canBeAskedFor({ type: "object" })).toBe(true);
  const plain = {
    a: { type: "string" },
    b: { enum: ["x", 1] },
    c: { type: "integer" },
    d: { type: "boolean" },
  };
  expect(asked(["a", "b", "c", "d"], plain)).toBe(true);
  expect(asked(["a"], { a: { type: "string" }, list: { type: "array" } })).toBe(true);
  expect(asked(["list"], { list: { type: "array" } })).toBe(false);
  expect(asked(["a"], { a: { enum: [{}] } })).toBe(false);
  expect(asked(["a"], {})).toBe(false);
  expect(asked(["toString"], {})).toBe(false);
});
