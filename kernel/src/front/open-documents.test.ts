import fc from "fast-check";
import { expect, test } from "vitest";
import { OpenDocuments } from "./open-documents.ts";

const position = (line: number, character: number) => ({ line, character });
const edit = (start: object, end: object, text: string) => ({ range: { start, end }, text });

test("after any number of edits the text equals the editor's", () => {
  const step = fc.record({
    at: fc.nat(),
    length: fc.nat({ max: 5 }),
    text: fc.stringMatching(/^[a-c\n]{0,6}$/),
  });
  fc.assert(
    fc.property(fc.string(), fc.array(step, { maxLength: 40 }), (initial, steps) => {
      const documents = new OpenDocuments("utf-16");
      let text = initial.replaceAll("\r", "");
      const positionOf = (offset: number) => {
        const lines = text.slice(0, offset).split("\n");
        return position(lines.length - 1, lines.at(-1)?.length ?? 0);
      };
      documents.record("textDocument/didOpen", {
        textDocument: { uri: "u", languageId: "l", version: 0, text },
      });
      // A kernel is connected.
      documents.replay();
      for (const [version, { at, length, text: inserted }] of steps.entries()) {
        const start = at % (text.length + 1);
        const end = Math.min(start + length, text.length);
        const contentChanges = [edit(positionOf(start), positionOf(end), inserted)];
        documents.record("textDocument/didChange", { textDocument: { uri: "u", version }, contentChanges });
        text = text.slice(0, start) + inserted + text.slice(end);
      }
      expect(documents.replay()).toMatchObject([{ params: { textDocument: { uri: "u", text } } }]);
    }),
  );
});

test("what was typed before a kernel was connected is a change of the text that was there", () => {
  const documents = new OpenDocuments("utf-16");
  const replayed = () => documents.replay().map(({ method, params }) => [method, params]);
  const change = (version: number, text: string): void =>
    documents.record("textDocument/didChange", {
      textDocument: { uri: "u", version },
      contentChanges: [edit(position(0, 0), position(0, 0), text)],
    });
  const opened = (version: number, text: string, more: object = {}) => [
    "textDocument/didOpen",
    { textDocument: { uri: "u", languageId: "l", version, text }, ...more },
  ];
  const changed = (version: number, text: string) => [
    "textDocument/didChange",
    { textDocument: { uri: "u", version }, contentChanges: [{ text }] },
  ];
  documents.record("textDocument/didOpen", {
    textDocument: { uri: "u", languageId: "l", version: 1, text: "x" },
  });
  change(2, "b");
  change(3, "a");
  expect(replayed()).toEqual([opened(1, "x"), changed(3, "abx")]);
  change(4, "c");
  documents.kernelLost();
  change(5, "d");
  // Nobody knows how much of it the earlier kernel had read.
  expect(replayed()).toEqual([opened(5, "dcabx", { continued: true })]);
});

test("closed, unopened and malformed documents are not kept", () => {
  const documents = new OpenDocuments("utf-16");
  documents.record("textDocument/didOpen", { textDocument: { uri: "a", text: "x" } });
  documents.record("textDocument/didClose", { textDocument: { uri: "a" } });
  documents.record("textDocument/didChange", { textDocument: { uri: "b" }, contentChanges: [{ text: "x" }] });
  for (const params of [null, 7, {}, { textDocument: {} }, { textDocument: { uri: "c" } }])
    documents.record("textDocument/didOpen", params);
  expect(documents.replay()).toEqual([]);
});
