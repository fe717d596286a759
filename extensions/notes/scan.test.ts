import { describe, expect, test } from "vitest";
import { scanNote } from "./scan.ts";

const targets = (text: string): string[] => scanNote(text).links.map(({ target }) => target);

describe("links", () => {
  test.each([
    ["[a](b.md)", ["b.md"]],
    ["[a](<my note.md>) and [c](d%20e.md#part 'Title')", ["my note.md", "d e.md"]],
    ["![picture](../img/a.png)", ["../img/a.png"]],
    ["[[Rome]] [[trips/Rome|the trip]] [[Rome#Day 2]]", ["Rome", "trips/Rome", "Rome"]],
    ["[a]: b.md", ["b.md"]],
    ["[50](50%.md)", ["50%.md"]],
    ["[a](https://example.com) [b](mailto:a@b.c) [c](#here) [d](/root.md)", []],
    ["`[a](b.md)` and ``[[c]] ` `` [d](e.md)", ["e.md"]],
    ["```\n[a](b.md)\n````\n[c](d.md)\n~~~\n[[e]]\n", ["d.md"]],
    ["    [a](b.md)", ["b.md"]],
  ])("%j", (text, expected) => {
    expect(targets(text)).toEqual(expected);
  });

  test("stand where they are written, without their fragments", () => {
    const text = "# é 💡\r\n\r\nsee [a](b%20c.md#d), [[E f#g|h]]\n";
    const { links } = scanNote(text);
    expect(links.map(({ start, end }) => text.slice(start, end))).toEqual(["b%20c.md", "E f"]);
  });
});

test("tags are words behind a number sign, outside of code and headings", () => {
  const text = "# Title\n#one and (#two/three), #42 no, a#b no, `#four`\nhttps://x.y/#five #one #été";
  expect(scanNote(text).tags).toEqual(["one", "two/three", "été"]);
});

test("tasks have their line, their text, and whether they are done", () => {
  const text =
    "- [ ] milk\n* [x] eggs \r\n1. [X] *bread*\n- [] no\n[ ] no\n```\n- [ ] code\n```\n  - [ ] oil";
  expect(scanNote(text).tasks).toEqual([
    { line: 1, text: "milk", isDone: false },
    { line: 2, text: "eggs", isDone: true },
    { line: 3, text: "*bread*", isDone: true },
    { line: 9, text: "oil", isDone: false },
  ]);
});

test.each(["- [ ] ".padEnd(2000), "[", "[[", "](", "](<", "`", "#", "- [ ] ", "[a](b ", "[a]: ", "``` "])(
  "%j, many times, takes time in proportion to its length",
  (piece) => {
    const of = (length: number): number => {
      const text = piece.repeat(length / piece.length);
      const begun = performance.now();
      scanNote(text);
      return performance.now() - begun;
    };
    of(20_000);
    expect(of(200_000)).toBeLessThan(50 * Math.max(of(20_000), 4));
  },
);
