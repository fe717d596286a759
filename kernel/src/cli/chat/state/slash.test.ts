import { expect, test } from "vitest";
import { fileWord, filesIn, offeredWords, partsOf, slashOf, wordAt } from "./slash.ts";

test("a message that names files has a part for each that exists", () => {
  const text = 'compare @a.md with @"my notes.md" and @gone.md, not me@example.org, @a.md again';
  expect(filesIn(text)).toEqual(["a.md", "my notes.md", "gone.md,"]);
  expect(partsOf(text, new Set(["a.md", "my notes.md"]))).toEqual([
    { type: "text", text },
    { type: "file", path: "a.md" },
    { type: "file", path: "my notes.md" },
  ]);
});

test("a path with blanks is quoted", () => {
  expect(fileWord("my notes.md")).toBe('@"my notes.md"');
});

test.each([
  'notes/it\'s "odd" $name;.md',
  '"quoted".md',
  'a "b\\" c.md',
  "back\\slash and blank.md",
  "ends with \\",
  "plain.md",
])("a file is read back as it was written: %s", (path) => {
  expect(filesIn(`read ${fileWord(path)} please, and @"b c.md"`)).toEqual([path, "b c.md"]);
});

test("a backslash before something else is one of the name", () => {
  expect(filesIn('@"a\\b c.md" @x', { quoted: true })).toEqual(["a\\b c.md"]);
});

test("only a word at the beginning is a command, and only a word of its own a file", () => {
  expect(wordAt("/co", 3)).toEqual({ kind: "command", start: 0, word: "co" });
  expect(wordAt("say /co", 7)).toBeNull();
  expect(wordAt("me@no", 5)).toBeNull();
  expect(wordAt("read @no", 8)).toEqual({ kind: "file", start: 5, word: "no" });
});

test("a command of an extension is called by no word that another one's could be meant by", () => {
  const command = (agent: string, name: string) => ({ agent, name, title: name, description: "" });
  const words = offeredWords(
    [
      command("dev.lares.photos", "album"),
      command("evil.photos", "album"),
      command("evil.photos", "help"),
      command("dev.lares.steward", "tidy"),
      command("evil.photos", "tidy"),
      command("evil.photos", "not a word"),
    ],
    "dev.lares.steward",
  );
  expect(words.map(({ word }) => word)).toEqual([
    "dev.lares.photos:album",
    "evil.photos:album",
    "photos:help",
    "tidy",
    "photos:tidy",
  ]);
  expect(slashOf("/help", words)).toEqual({ kind: "command", name: "help", rest: "" });
  expect(slashOf("/evil.photos:album a b", words)).toMatchObject({ kind: "offered", rest: "a b" });
  expect(slashOf("/photos:album", words)).toMatchObject({ kind: "unknown" });
});

test("a command with too much or too little behind it says so", () => {
  expect(slashOf("/undo this")).toMatchObject({
    kind: "unknown",
    message: expect.stringContaining("Remove"),
  });
  expect(slashOf("/title")).toMatchObject({ kind: "unknown" });
  expect(slashOf("/model")).toEqual({ kind: "command", name: "model", rest: "" });
  expect(slashOf("hello /undo")).toBeNull();
});
