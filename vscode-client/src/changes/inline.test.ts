import { createTwoFilesPatch } from "diff";
import { Uri } from "vscode";
import { expect, test, vi } from "vitest";
import { fakeContext } from "../testing/context.ts";
import { action as anAction, effect as anEffect } from "../testing/things.ts";
import { seen, window, workspace } from "../testing/vscode.ts";
import { hunksOf } from "../deciding/hunks.ts";
import { inlinePreview, previewOf } from "./inline.ts";
import { rangeOf } from "./parts.ts";

function preview(before: string, ...afters: string[]) {
  const texts = before.split("\n");
  const document = { lineCount: texts.length, lineAt: (line: number) => ({ text: texts[line] }) };
  const parts = afters.flatMap((after, index) =>
    hunksOf(createTwoFilesPatch("a", "a", before, after)).map((lines) => ({
      action: anAction({ id: `action-${index}` }),
      lines,
      ...rangeOf(lines),
    })),
  );
  return previewOf(parts, document as never);
}

test("a removed word is struck through, and the new word is before it", () => {
  expect(preview("one two three\n", "one 2 three\n")).toEqual({
    struck: [{ line: 0, start: 4, end: 7 }],
    ghosts: [{ line: 0, character: 4, text: "2" }],
  });
});

test("a line that changes mostly is struck through as a whole, before the new one", () => {
  expect(preview("Line 2 of the long note.\n", "The second line.\n")).toEqual({
    struck: [{ line: 0, start: 0, end: 24 }],
    ghosts: [{ line: 0, character: 0, text: "The second line." }],
  });
});

test.each([
  ["at the top", "a\nb\n", "# T\n\na\nb\n", { line: 0, character: 0, text: "# T ⏎ ⏎ " }],
  ["in the middle", "a\nb\n", "a\nnew\nb\n", { line: 0, character: 1, text: " ⏎ new" }],
  ["in an empty text", "", "a\n", { line: 0, character: 0, text: "a⏎ " }],
])("lines that come %s are drawn beside the line that they follow", (_name, before, after, ghost) => {
  expect(preview(before, after).ghosts).toEqual([ghost]);
});

test("removed lines are struck through as a whole", () => {
  expect(preview("a\nbb\nc\n", "a\nc\n")).toEqual({ struck: [{ line: 1, start: 0, end: 2 }], ghosts: [] });
});

test("of two proposals for one line only the first is drawn, so that both stay readable", () => {
  const { ghosts } = preview("one two three\n", "one 2 three\n", "1 two three\n");
  expect(ghosts).toEqual([{ line: 0, character: 4, text: "2" }]);
});

test("long text is shown by its number of lines, and no character is invisible", () => {
  const { ghosts } = preview("a\n", `a\n${"x\u202e\n".repeat(9)}`);
  expect(ghosts[0]?.text).toBe(" ⏎ x<U+202E> ⏎ x<U+202E> ⏎ x<U+202E> ⏎ and 6 more lines");
});

test("a file is drawn into in its own editor, and not as the side of a diff", async () => {
  seen.forget();
  workspace.workspaceFolders = [{ uri: Uri.file("/work"), name: "work", index: 0 }];
  const fake = fakeContext();
  const diff = createTwoFilesPatch("a", "a", "one\n", "two\n");
  fake.actions = [anAction({ effects: [anEffect({ before: null, diff })] })];
  const document = {
    uri: Uri.file("/work/notes/a.md"),
    isDirty: false,
    version: 1,
    lineCount: 2,
    lineAt: () => ({ text: "one" }),
  };
  const editors = [1, undefined].map((viewColumn) => ({ viewColumn, document, setDecorations: vi.fn() }));
  window.visibleTextEditors = editors;
  vi.useFakeTimers();
  const feature = inlinePreview(fake.context);
  await vi.runAllTimersAsync();
  await fake.settle();
  vi.useRealTimers();
  expect(editors.map(({ setDecorations }) => setDecorations.mock.calls.length)).toEqual([2, 0]);
  feature.dispose();
});
