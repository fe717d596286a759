import { expect, test } from "vitest";
import { matcherOf } from "./path-matcher.ts";

test("answers are remembered for the patterns that they were given for, and for no others", () => {
  let patterns = ["inbox/**"];
  const { matches } = matcherOf(() => patterns);
  const answers = (): boolean[] => ["inbox/a.md", "notes/a.md", "inbox/a.md"].map((path) => matches(path));
  expect(answers()).toEqual([true, false, true]);
  patterns = ["notes/**"];
  expect(answers()).toEqual([false, true, false]);
  patterns = [];
  expect(answers()).toEqual([false, false, false]);
});

test("more paths than are remembered are answered as the first ones were", () => {
  const { matches } = matcherOf(() => ["a/**"]);
  const paths = Array.from({ length: 2_500 }, (_, at) => `${at % 2 === 0 ? "a" : "b"}/${at}`);
  for (let round = 0; round < 2; round++)
    expect(paths.filter((path) => matches(path))).toEqual(paths.filter((path) => path.startsWith("a/")));
});

test("a path counts in every spelling that some file system takes for it", () => {
  const { matches, reaches } = matcherOf(() => ["downloads/**", "Mail/*.eml"]);
  for (const path of ["Downloads/a.md", "DOWNLOADS/sub/a.md", "mail/A.EML"]) expect(matches(path)).toBe(true);
  expect(matches("download/a.md")).toBe(false);
  expect(reaches("MAIL")).toBe(true);
});

test("a folder is reached if a pattern may name something in it", () => {
  const { reaches } = matcherOf(() => ["a/downloads/**"]);
  expect(["a", "a/downloads", "a/downloads/sub", ".", "a/other", "b"].map((path) => reaches(path))).toEqual([
    true,
    true,
    true,
    true,
    false,
    false,
  ]);
  expect(matcherOf(() => ["**/*.eml"]).reaches("anything")).toBe(true);
  expect(matcherOf(() => []).reaches(".")).toBe(false);
});
