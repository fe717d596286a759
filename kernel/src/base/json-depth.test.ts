import { expect, test } from "vitest";
import { nestsDeeperThan, textNestsDeeperThan } from "./json-depth.ts";

const deeper = (json: string, maxDepth: number): boolean => {
  const found = nestsDeeperThan(new TextEncoder().encode(json), maxDepth);
  expect(textNestsDeeperThan(json, maxDepth)).toBe(found);
  return found;
};

test.each<[string, number]>([
  ["1", 0],
  ["[]", 1],
  ['{"a":[{"b":1}],"c":{}}', 3],
  ['["[[[[", "\\"[[["]', 1],
  ['{"\\\\":[1]}', 2],
])("%s is %i deep: brackets in texts do not count", (json, depth) => {
  expect([deeper(json, depth), depth > 0 && deeper(json, depth - 1)]).toEqual([false, depth > 0]);
});

test("an unclosed text hides what follows, and is not JSON anyway", () => {
  expect(deeper('"[[[[', 1)).toBe(false);
});
