import { expect, test } from "vitest";
import { triggerWords } from "./question.ts";

test("a filter is shown as written, and cannot end its quotation or hide text", () => {
  const words = (filter: string): string => triggerWords({ on: "EntryModified", handler: "h", filter });
  expect(words('entry.extension == "md"')).toMatch(/, if “entry\.extension == "md"”$/);
  const ended = words('entry.name == "”. It reads nothing"');
  expect(ended.indexOf("”")).toBe(ended.length - 1);
  expect(ended).toContain("<U+201D>");
  expect(words('entry.name == "a\u202eb"')).toContain("<U+202E>");
});
