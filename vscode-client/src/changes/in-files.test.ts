import { Uri } from "vscode";
import { beforeEach, expect, test } from "vitest";
import { action as anAction, effect as anEffect } from "../testing/things.ts";
import { fakeContext } from "../testing/context.ts";
import { seen, workspace } from "../testing/vscode.ts";
import { PendingFiles } from "./file-decorations.ts";
import { decorationsOf } from "./gutter.ts";
import type { Mark } from "./marks.ts";

beforeEach(() => {
  seen.forget();
  workspace.workspaceFolders = [{ uri: Uri.file("/work"), name: "work", index: 0 }];
});

const document = { isDirty: false, lineCount: 10 };
const lines: readonly Mark[] = [
  { line: 2, kind: "changed" },
  { line: 9, kind: "inserted" },
];
const linesOf = (decorations: readonly { range: { start: { line: number } } }[]): number[] =>
  decorations.map(({ range }) => range.start.line);
const wordsOf = (decorations: readonly { hoverMessage?: unknown }[]): string =>
  JSON.stringify(decorations.map(({ hoverMessage }) => hoverMessage))
    .replaceAll("\\\\", "")
    .replaceAll("&nbsp;", " ");

test("the lines of a change are marked, with title and reason", () => {
  const { changed, inserted, about } = decorationsOf([{ action: anAction(), lines, before: null }], document);
  expect([linesOf(changed), linesOf(inserted), linesOf(about)]).toEqual([[2], [9], [2, 9]]);
  expect(wordsOf(about)).toContain("Tidy up");
  expect(wordsOf(about)).toContain("It is untidy.");
});

test("in a file with unsaved changes one mark at the top says to save first", () => {
  const { changed, inserted, about } = decorationsOf([{ action: anAction(), lines, before: null }], {
    ...document,
    isDirty: true,
  });
  expect([linesOf(changed), linesOf(inserted)]).toEqual([[0], []]);
  expect(wordsOf(about)).toContain("Save first: this file has unsaved changes.");
});

test("if the file has changed since, the mark says that the proposal cannot be applied", () => {
  const marks = { action: anAction(), lines: [], before: null, hasMovedOn: true };
  const { changed, about } = decorationsOf([marks], document);
  expect(linesOf(changed)).toEqual([0]);
  expect(wordsOf(about)).toContain("an earlier version of this file");
});

test("a change outside the lines is marked at the top, and two actions on a line share a mark", () => {
  const one = { action: anAction({ id: "1", title: "Move it" }), lines: [], before: null };
  const other = {
    action: anAction({ id: "2", title: "Title it" }),
    lines: [{ line: 0, kind: "inserted" as const }],
    before: null,
  };
  const { changed, about } = decorationsOf([one, other], document);
  expect(linesOf(changed)).toEqual([0]);
  expect(wordsOf(about)).toMatch(/Move it.*Title it/);
});

test("a line that no longer exists is marked at the last line", () => {
  const far = [{ line: 500, kind: "changed" as const }];
  expect(
    linesOf(decorationsOf([{ action: anAction(), lines: far, before: null }], document).changed),
  ).toEqual([9]);
});

test("an agent's text is plain text in a hover, not Markdown", () => {
  const title = "[click](command:x) <img src=y> **bold** \u202e";
  const { about } = decorationsOf([{ action: anAction({ title }), lines, before: null }], document);
  const [hover] = (about[0]?.hoverMessage ?? []) as { value: string; isTrusted: boolean }[];
  expect(hover?.isTrusted).not.toBe(true);
  expect(hover?.value).toContain(
    String.raw`\[click\]\<U\+0028\>command:x\) \<img src=y\> \*\*bold\*\* \<U\+202E\>`,
  );
});

test("files with a pending change have a badge with the count, both ends of a move; it disappears with the change", () => {
  const fake = fakeContext();
  const files = new PendingFiles(fake.context);
  const told: string[][] = [];
  files.onDidChangeFileDecorations((uris) => {
    if (Array.isArray(uris)) told.push(uris.map((uri) => uri.path));
  });
  fake.actions = [
    anAction({ id: "1", effects: [anEffect({ path: "a.md" })] }),
    anAction({ id: "2", effects: [anEffect({ kind: "file.move", from: "a.md", path: "b.md" })] }),
  ];
  fake.actionsChanged.fire();
  expect(told).toEqual([["/work/a.md", "/work/b.md"]]);
  expect(files.provideFileDecoration(Uri.file("/work/a.md"))?.tooltip).toBe("Lares: 2 changes wait for you");
  expect(files.provideFileDecoration(Uri.file("/work/c.md"))).toBe(undefined);

  fake.actions = [anAction({ id: "1", effects: [anEffect({ path: "a.md" })] })];
  fake.actionsChanged.fire();
  expect(told[1]).toEqual(["/work/a.md", "/work/b.md"]);
  expect(files.provideFileDecoration(Uri.file("/work/b.md"))).toBe(undefined);
});
