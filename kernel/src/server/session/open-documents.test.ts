import { describe, expect, test } from "vitest";
import { maxOpenCharacters, maxOpenDocumentCharacters, OpenDocuments } from "./open-documents.ts";

const position = (line: number, character: number) => ({ line, character });

async function opened(text: string, onDisk: string | null): Promise<OpenDocuments> {
  const documents = new OpenDocuments();
  documents.open("file:///a", text, Promise.resolve(onDisk));
  await documents.compared();
  return documents;
}

test("changes that take too long to apply mark the document as changed until it is saved", async () => {
  const documents = await opened("\n".repeat(4_000_000), "\n".repeat(4_000_000));
  const changes = Array.from({ length: 100_000 }, (_, line) => ({
    range: { start: position(3_000_000 + line, 0), end: position(3_000_000 + line, 0) },
    text: "x",
  }));
  documents.change("file:///a", changes);
  expect(documents.text("file:///a")).toBeNull();
  expect(documents.isUnsaved("file:///a")).toBe(true);
  documents.change("file:///a", [...changes, { text: "whole" }]);
  expect(documents.text("file:///a")).toBe("whole");
  documents.save("file:///a");
  expect(documents.isUnsaved("file:///a")).toBe(false);
});

describe("unsaved changes", () => {
  const large = "x".repeat(maxOpenDocumentCharacters + 1);
  const cases: [string, string, string | null, (documents: OpenDocuments) => void, boolean][] = [
    ["as on disk", "a\n", "a\n", () => {}, false],
    ["with other line ends only", "a\r\n", "a\n", () => {}, false],
    ["not on disk", "a", null, () => {}, false],
    ["opened with unsaved changes", "b", "a", () => {}, true],
    ["changed", "a", "a", (all) => all.change("file:///a", [{ text: "b" }]), true],
    [
      "changed and changed back",
      "a",
      "a",
      (all) => all.change("file:///a", [{ text: "b" }, { text: "a" }]),
      false,
    ],
    ["too large to keep", large, large, () => {}, false],
    ["too large to keep, opened with unsaved changes", large, "a", () => {}, true],
    [
      "too large to keep, changed",
      large,
      large,
      (all) => all.change("file:///a", [{ range: { start: position(0, 0), end: position(0, 1) }, text: "" }]),
      true,
    ],
    [
      "too large to keep, changed and saved",
      large,
      large,
      (all) => {
        all.change("file:///a", [{ text: "b" }]);
        all.save("file:///a");
      },
      false,
    ],
    ["grown too large", "a", "a", (all) => all.change("file:///a", [{ text: large }]), true],
    ["closed", "b", "a", (all) => all.close("file:///a"), false],
  ];
  test.each(cases)("%s", async (_name, text, onDisk, act, isUnsaved) => {
    const documents = await opened(text, onDisk);
    act(documents);
    expect(documents.unsaved()).toEqual(isUnsaved ? ["file:///a"] : []);
  });
});

describe("a text that an editor reloaded from its file is not unsaved", () => {
  const cases: [string, string | null, (documents: OpenDocuments) => void, boolean][] = [
    ["the file is what the editor has now", "written by another", () => {}, false],
    [
      "with other line ends only",
      "written\r\n",
      (all) => all.change("file:///a", [{ text: "written\n" }]),
      false,
    ],
    ["the file is something else", "old", () => {}, true],
    ["the file cannot be read", null, () => {}, true],
  ];
  test.each(cases)("%s", async (_name, onDisk, act, isUnsaved) => {
    const documents = await opened("old", "old");
    documents.change("file:///a", [{ text: "written by another" }]);
    act(documents);
    await documents.compared(async () => onDisk);
    expect(documents.unsaved()).toEqual(isUnsaved ? ["file:///a"] : []);
  });

  test("but text typed while the file was read is unsaved", async () => {
    const documents = await opened("old", "old");
    documents.change("file:///a", [{ text: "written" }]);
    await documents.compared(async () => {
      documents.change("file:///a", [{ text: "typed" }]);
      return "written";
    });
    expect(documents.unsaved()).toEqual(["file:///a"]);
  });
});

test("a document that is too large stays open, and is kept again once its new text is small", async () => {
  const documents = await opened("x".repeat(maxOpenDocumentCharacters + 1), null);
  expect([documents.has("file:///a"), documents.text("file:///a")]).toEqual([true, null]);
  documents.change("file:///a", [
    { text: "ab" },
    { range: { start: position(0, 0), end: position(0, 1) }, text: "" },
  ]);
  expect(documents.text("file:///a")).toBe("b");
  expect(documents.isUnsaved("file:///a")).toBe(true);
  documents.close("file:///a");
  expect(documents.has("file:///a")).toBe(false);
});

test("the total of kept texts is bounded, and changes of the others are still known", () => {
  const documents = new OpenDocuments();
  const names = Array.from({ length: 40 }, (_, index) => `file:///${index}`);
  for (const [index, name] of names.entries())
    documents.open(name, String.fromCharCode(97 + (index % 26)).repeat(maxOpenDocumentCharacters), never);
  const kept = names.filter((name) => documents.text(name) !== null);
  expect(kept.length * maxOpenDocumentCharacters).toBe(maxOpenCharacters);
  for (const name of names) documents.change(name, [{ text: "short" }]);
  expect(documents.unsaved()).toEqual(names);
  // The closed document makes room for this one.
  for (const name of names) documents.close(name);
  documents.open("file:///new", "text", never);
  expect(documents.text("file:///new")).toBe("text");
});

const never = new Promise<null>(() => undefined);
