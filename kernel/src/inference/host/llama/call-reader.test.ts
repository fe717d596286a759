import { expect, test } from "vitest";
import type { CallFormat } from "./call-format.ts";
import { CallReader } from "./call-reader.ts";
import { MarkScanner } from "./scanner.ts";

const format: CallFormat = {
  opening: ['<tool_call>\n{"name": "'],
  mark: "<tool_call>",
  beforeArguments: '", "arguments": ',
  afterArguments: "}\n</tool_call>",
  between: '\n<tool_call>\n{"name": "',
  thought: { begin: "", end: "" },
};
const given = { a: 'a "}" \\ {', b: [1, { c: "]" }] };
const json = JSON.stringify(given);
const text = `read_all", "arguments": ${json}}\n</tool_call>\n<tool_call>\n{"name": "read", "arguments": {}}\n</tool_call>`;

test.each([1, 3, 7, 1000])("calls are read from pieces of %i characters", (size) => {
  const reader = new CallReader(["read", "read_all"], format);
  const read: { tool: string; json: string; isWhole: boolean }[] = [];
  for (let at = 0; at < text.length; at += size)
    for (const piece of reader.push(text.slice(at, at + size))) {
      const last = read.at(-1);
      if (piece.type === "call") read.push({ tool: piece.tool, json: "", isWhole: false });
      else if (last !== undefined)
        Object.assign(last, { json: last.json + piece.text, isWhole: piece.isLast });
    }
  expect(read).toEqual([
    { tool: "read_all", json, isWhole: true },
    { tool: "read", json: "{}", isWhole: true },
  ]);
});

test.each([1, 2, 5, 100])("marks are found in pieces of %i characters, and nothing else is lost", (size) => {
  const scanner = new MarkScanner(["<think>", "</think>", "<|end|>", ""]);
  const whole = "a < b <thin<think>so <|en</think> done";
  const found: string[] = [];
  let shown = "";
  for (let at = 0; at < whole.length; at += size)
    for (let rest = whole.slice(at, at + size); ;) {
      const result = scanner.push(rest);
      shown += result.text;
      if (result.mark === null) break;
      found.push(result.mark);
      shown += "|";
      rest = result.rest;
    }
  expect([shown + scanner.end(), found]).toEqual(["a < b <thin|so <|en| done", ["<think>", "</think>"]]);
});
