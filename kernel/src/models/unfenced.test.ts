import { expect, test } from "vitest";
import { unfenced } from "./unfenced.ts";

test("a code block is taken off, in the forms in which models write it", () => {
  for (const text of [
    "{}",
    " {}\n",
    "```json\n{}\n```",
    "```\n{}\n```\n",
    "\n```json \n\n{}```",
    "```json\r\n{}\r\n```",
  ])
    expect([text, unfenced(text, ["json"])]).toEqual([text, "{}"]);
  expect(unfenced("```\n```", [])).toBe("");
});

test("anything else stays as it is", () => {
  for (const text of [
    "",
    "```",
    "``````",
    "```json",
    "```yaml\n{}\n```",
    "```json\n{}",
    "a\n```json\n{}\n```",
    "```{}```",
  ])
    expect(unfenced(text, ["json"])).toBe(text);
});

test("millions of line breaks are read at once", () => {
  const breaks = "\n".repeat(4_000_000);
  expect(unfenced(`\`\`\`json${breaks}x`, ["json"])).toHaveLength(breaks.length + 8);
  expect(unfenced(`\`\`\`json${breaks}x\`\`\``, ["json"])).toBe("x");
});
