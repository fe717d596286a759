import { expect, test } from "vitest";
import type { ToolResult } from "../base/vocabulary/tool-result.ts";
import { type NewEntry, searchedText } from "./records.ts";

const resultOf = (value: unknown): NewEntry =>
  ({ kind: "tool_result", call: "c", result: { status: "success", value } as ToolResult }) as NewEntry;

test("the texts inside of a result are searched, in their order", () => {
  const value = { path: "notes.md", lines: [{ text: "My aunt" }, "left her heron"], size: 12, hash: null };
  expect(searchedText(resultOf(value))).toBe("notes.md\nMy aunt\nleft her heron");
  expect(searchedText(resultOf("a text"))).toBe("a text");
  expect(searchedText(resultOf(null))).toBe("");
});

test("of a large or deep result no more than a bounded part is searched", () => {
  expect(searchedText(resultOf({ a: "x".repeat(400_000), b: "y" })).length).toBeLessThanOrEqual(256 * 1024);
  const many = Array.from({ length: 100_000 }, () => "word");
  expect(searchedText(resultOf(many)).length).toBeLessThanOrEqual(256 * 1024);
  let deep: unknown = "end";
  for (let at = 0; at < 10_000; at++) deep = [deep];
  expect(searchedText(resultOf(deep))).toBe("end");
});
