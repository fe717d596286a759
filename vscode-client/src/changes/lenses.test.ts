import { expect, test } from "vitest";
import { action as anAction, effect as anEffect } from "../testing/things.ts";
import { lensesOf } from "./lenses.ts";

const here = { agent: "Notes", isDirty: false, path: "notes/a.md" };
const lines = { oldStart: 1, oldLines: 0, newStart: 1, newLines: 1, lines: ["+# A"] };
const words = (...given: Parameters<typeof lensesOf>): string[] =>
  lensesOf(...given).map(({ title }) => title);

test("a small change of one file is approved above its line", () => {
  expect(words(anAction(), [{ effect: 0, lines }], here)).toEqual([
    "Notes: adds 1 line",
    "Approve",
    "Reject…",
    "Show changes",
    "Edit",
  ]);
});

test("in one of several files, only that file's part is approved, and deletions and moves elsewhere are named", () => {
  const gone = anEffect({ kind: "file.delete", path: "notes/old.md" });
  const action = anAction({
    effects: [gone, anEffect(), anEffect({ kind: "file.move", from: "x", path: "y" })],
  });
  const lenses = lensesOf(action, [{ effect: 1, lines }], here);
  expect(lenses.map(({ title }) => title)).toEqual([
    "Notes: adds 1 line (elsewhere 2 other changes, deletes 1, moves 1)",
    "Show changes",
    "Approve in this file only",
    "Reject…",
  ]);
  const { id, digest } = action;
  expect(lenses[2]).toMatchObject({ command: "lares.approve", arguments: [{ id, digest, effects: [1] }] });
});

test("nothing can be approved above a text other than the one it was proposed for", () => {
  for (const given of [
    words(anAction(), [{ effect: 0, lines }], { ...here, isDirty: true }),
    words(anAction(), [], here),
  ]) {
    expect(given).toHaveLength(1);
    expect(given[0]).not.toContain("Approve");
  }
});
