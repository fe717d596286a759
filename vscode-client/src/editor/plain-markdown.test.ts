import { expect, it } from "vitest";
import { plainMarkdown } from "./plain-markdown.ts";

it.each([
  ["words", "low impact; two days ago", "low&nbsp;impact; two days ago"],
  ["what would be a list", "1. one of two", "1.&nbsp;one of two"],
  ["lines", "a b c\nd e f", "a&nbsp;b c\n\nd&nbsp;e f"],
  ["what is indented", '    "name": 1, 2', '&nbsp;&nbsp;&nbsp;&nbsp;"name": 1, 2'],
])("%s may be broken between words, and stay what they are", (_name, text, markdown) => {
  expect(plainMarkdown(text).value).toBe(markdown);
});
