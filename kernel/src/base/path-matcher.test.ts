import { expect, test } from "vitest";
import { matcherOf } from "./path-matcher.ts";

test("answers are remembered for the patterns that they were given for, and for no others", () => {
  let patterns = ["inbox/**"];
  const matches = matcherOf(() => patterns);
  const answers = (): boolean[] => ["inbox/a.md", "notes/a.md", "inbox/a.md"].map((path) => matches(path));
  expect(answers()).toEqual([true, false, true]);
  patterns = ["notes/**"];
  expect(answers()).toEqual([false, true, false]);
  patterns = [];
  expect(answers()).toEqual([false, false, false]);
});

test("more paths than are remembered are answered as the first ones were", () => {
  const matches = matcherOf(() => ["a/**"]);
  const paths = Array.from({ length: 2_500 }, (_, at) => `${at % 2 === 0 ? "a" : "b"}/${at}`);
  for (let round = 0; round < 2; round++)
    expect(paths.filter((path) => matches(path))).toEqual(paths.filter((path) => path.startsWith("a/")));
});
