import { expect, test } from "vitest";
import { Inspections } from "./inspections.ts";

test("an agent is inspected while a client inspects it, or all, until the last one ends", () => {
  const inspections = new Inspections();
  const one = inspections.begin(() => true, "a");
  const again = inspections.begin(() => true, "a");
  const all = inspections.begin(() => true);
  expect(inspections.has("b")).toBe(true);
  all[Symbol.dispose]();
  expect(inspections.has("b")).toBe(false);
  one[Symbol.dispose]();
  one[Symbol.dispose]();
  expect(inspections.has("a")).toBe(true);
  again[Symbol.dispose]();
  expect(inspections.has("a")).toBe(false);
});

test("a client that lost trust inspects nothing, until it is trusted again", () => {
  let isTrusted = true;
  const inspections = new Inspections();
  using _inspecting = inspections.begin(() => isTrusted, "a");
  isTrusted = false;
  expect(inspections.has("a")).toBe(false);
  isTrusted = true;
  expect(inspections.has("a")).toBe(true);
});
