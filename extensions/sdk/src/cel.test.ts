import { describe, expect, it } from "vitest";
import { CelError, compileCel } from "./cel.ts";

const codeOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof CelError) return error.code;
    throw error;
  }
  return "none";
};

describe("compileCel", () => {
  it("evaluates an expression with the values of its variables", () => {
    const isLarge = compileCel("size > 1000 && name.endsWith('.pdf')", { size: "int", name: "string" });
    expect(isLarge.type).toBe("bool");
    expect(isLarge.evaluate({ size: 2000n, name: "a.pdf" })).toBe(true);
    expect(isLarge.evaluate({ size: 2n, name: "a.pdf" })).toBe(false);
  });

  it("reads maps and lists of plain values", () => {
    const has = compileCel("action.effects.exists(e, e.path == 'a')", { action: "map" });
    expect(has.evaluate({ action: { effects: [{ path: "b" }, { path: "a" }] } })).toBe(true);
  });

  it.each([
    ["a &&", "syntax"],
    ["other == 'x'", "type"],
    ["a + 1", "type"],
  ])("refuses %s: %s", (expression, code) => {
    expect(codeOf(() => compileCel(expression, { a: "string" }))).toBe(code);
  });

  it("says which key is missing, and what else failed", () => {
    const path = compileCel("facts.path == 'x'", { facts: "map" });
    expect(() => path.evaluate({ facts: {} })).toThrow("No such key: path");
    expect(codeOf(() => path.evaluate({ facts: {} }))).toBe("no_such_key");
    expect(codeOf(() => compileCel("n / 0 == 1", { n: "int" }).evaluate({ n: 1n }))).toBe("evaluation");
  });
});
