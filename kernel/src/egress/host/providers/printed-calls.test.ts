import { expect, test } from "vitest";
import { printedCalls } from "./printed-calls.ts";

const offered = new Set(["files_read", "files_list"]);
const one = '{"name": "files_read", "arguments": {"path": "a"}}';
const read = { tool: "files_read", arguments: { path: "a" } };
const list = { tool: "files_list", arguments: {} };

test("calls are recognised in the forms in which models print them", () => {
  for (const text of [
    one,
    `  ${one}\n`,
    `[${one}]`,
    `\`\`\`json\n${one}\n\`\`\``,
    `\`\`\`\n${one}\n\`\`\``,
    `<tool_call>\n${one}\n</tool_call>`,
    `<|python_tag|>${one}`,
    `[TOOL_CALLS][${one}]`,
    '{"name": "files_read", "parameters": {"path": "a"}}',
    '{"name": "files_read", "arguments": "{\\"path\\": \\"a\\"}"}',
    '{"type": "function", "function": {"name": "files_read", "arguments": {"path": "a"}}}',
  ])
    expect([text, printedCalls(text, offered)]).toEqual([text, [read]]);
  const two = '{"name": "files_list", "arguments": {}}';
  for (const text of [
    `[${one}, ${two}]`,
    `${one}\n${two}`,
    `<tool_call>${one}</tool_call>\n<tool_call>${two}</tool_call>`,
  ])
    expect([text, printedCalls(text, offered)]).toEqual([text, [read, list]]);
});

test("anything else stays text", () => {
  for (const text of [
    "",
    "hello",
    "{}",
    "[]",
    "null",
    `I would call ${one}`,
    `${one} and then I stop`,
    '{"name": "files_write", "arguments": {}}',
    '{"name": "Files_read", "arguments": {}}',
    '{"name": "toString", "arguments": {}}',
    '{"name": "files_read"}',
    '{"name": "files_read", "arguments": null}',
    '{"name": "files_read", "arguments": [1]}',
    `[${one}, {"name": "other", "arguments": {}}]`,
    one.slice(0, -1),
    `<tool_call>${one}</tool_call> done`,
    `[${Array.from({ length: 65 }, () => one).join()}]`,
    `{"name": "files_read", "arguments": {"path": "${"x".repeat(300_000)}"}}`,
    `{"function": ${'{"function": '.repeat(2000)}1${"}".repeat(2001)}`,
  ])
    expect(printedCalls(text, offered)).toBeNull();
  expect(printedCalls(one, new Set())).toBeNull();
});
