import { describe, expect, test } from "vitest";
import { actionWords, countChanges, effectWords } from "./effect-words.ts";
import type { Effect } from "./action.ts";

const hash = `sha256:${"0".repeat(64)}` as const;
const edit: Effect = {
  kind: "file.edit",
  path: "build.sh",
  before: hash,
  after: hash,
  diff: "--- a/build.sh\n+++ b/build.sh\n@@ -1 +1 @@\n-++ a\n+-- b\n",
  summary: "Edit build.sh (1.2 KiB → 1.3 KiB)",
};

describe("what an effect does, in words", () => {
  test("names every path and kind, and how much", () => {
    const gone: Effect = { ...edit, kind: "file.delete", path: "scratch.md", after: null };
    expect(actionWords([edit, gone])).toBe('Edits "build.sh" (+1 −1). Deletes "scratch.md" (+1 −1).');
  });
  test("without a diff shows the sizes", () => {
    const { diff: _diff, ...binary } = edit;
    expect(effectWords(binary)).toBe('Edits "build.sh" (1.2 KiB → 1.3 KiB)');
  });
  test("of a moved folder shows its number of files", () => {
    const move: Effect = {
      kind: "file.move",
      from: "a",
      path: "b",
      before: hash,
      after: hash,
      summary: "Move a to b (a folder of 12 files)",
    };
    expect(effectWords(move)).toBe('Moves "a" to "b" (a folder of 12 files)');
  });
  test("no name in it reads as a part of the sentence", () => {
    const path = 'notes.md" (+1 −1). Creates "x';
    expect(effectWords({ ...edit, path })).toBe(
      'Edits "notes.md<U+0022> (+1 −1). Creates <U+0022>x" (+1 −1)',
    );
  });
  test("counts the lines of the hunks alone", () => {
    expect(countChanges(edit.diff ?? "")).toEqual({ added: 1, removed: 1 });
    expect(countChanges("")).toEqual({ added: 0, removed: 0 });
  });
});
