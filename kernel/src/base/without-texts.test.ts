import { expect, test } from "vitest";
import { isDistinctive, redactedMark, textRemover } from "./without-texts.ts";

test("texts are replaced in strings, lists, records and names of fields, the longest first", () => {
  const remover = textRemover(["plum", "plum jam"]);
  expect(remover.from({ a: ["plum jam", 1, null], plum: { b: "a plum" } })).toEqual({
    a: [redactedMark, 1, null],
    [redactedMark]: { b: `a ${redactedMark}` },
  });
  expect(remover.holds("plum pie")).toBe(true);
  expect(remover.holds("apple pie")).toBe(false);
});

test("a text is found in JSON that is a text, and in JSON in that", () => {
  const text = 'a "b"\nc';
  const remover = textRemover([text]);
  const once = JSON.stringify({ text });
  const twice = JSON.stringify({ once });
  expect(JSON.parse(remover.from(once))).toEqual({ text: redactedMark });
  expect(remover.from(twice)).not.toContain("\\nc");
  expect(remover.holds(twice)).toBe(true);
  expect(remover.holds(JSON.stringify(remover.from({ twice })))).toBe(false);
});

test("the beginning of a text is removed where it was cut off, and nowhere else", () => {
  const text = "My bank account is 4711 0815, and nobody but you may know that, please.";
  const remover = textRemover([text]);
  for (const cut of [text.slice(0, 60), `${text.slice(0, 59)}…`, `So: ${text.slice(0, 50)}`]) {
    expect(remover.holds(cut)).toBe(true);
    expect(remover.from(cut)).not.toContain("bank");
    expect(remover.needles.some((needle) => cut.includes(needle))).toBe(true);
  }
  const inJson = JSON.stringify({ title: `${text.slice(0, 50)}…`, more: text.slice(0, 45) });
  expect(JSON.parse(remover.from(inJson))).toEqual({ title: `${redactedMark}…`, more: redactedMark });
  for (const other of [text.slice(0, 30), `${text.slice(0, 45)} another one`]) {
    expect(remover.holds(other)).toBe(false);
    expect(remover.from(other)).toBe(other);
  }
});

test("no texts change nothing", () => {
  const remover = textRemover([""]);
  expect(remover.forms).toEqual([]);
  expect(remover.from("as it is")).toBe("as it is");
  expect(remover.holds("")).toBe(false);
});

test.each([
  ["path", false],
  ["conversation", false],
  ["PendingApproval", false],
  ["file.write", false],
  ["2026", false],
  ["2026-11-27", false],
  ["ab1", false],
  ["hunter2", true],
  ["pa$$word", true],
  ["my pin", true],
  ["correcthorsebatterystaple", true],
  ["sk-ant-1234567890", true],
])("%s is distinctive: %s", (text, expected) => {
  expect(isDistinctive(text)).toBe(expected);
});
