import { expect, test } from "vitest";
import { lspFault } from "./check.ts";

const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } };
const notification = (method: string, params: unknown) => ({ jsonrpc: "2.0", method, params });
const answer = (result: unknown) => ({ jsonrpc: "2.0", id: 1, result });
const diagnostics = (diagnostic: object) =>
  notification("textDocument/publishDiagnostics", { uri: "file:///x", diagnostics: [diagnostic] });

test.each<[string, Record<string, unknown>, string | undefined]>([
  [
    "a notification",
    diagnostics({ range, message: "x", severity: 1, code: "a", source: "lares" }),
    undefined,
  ],
  [
    "a request",
    { ...notification("window/showMessageRequest", { type: 3, message: "x" }), id: 7 },
    undefined,
  ],
  ["a request without params", { jsonrpc: "2.0", id: 7, method: "workspace/codeLens/refresh" }, undefined],
  [
    "an answer",
    answer([{ range, command: { title: "a", command: "b", arguments: [{}] } }]),
    "textDocument/codeLens",
  ],
  ["null, where that may be", answer(null), "textDocument/hover"],
  ["the answer to shutdown", answer(null), "shutdown"],
  ["an error", { jsonrpc: "2.0", id: null, error: { code: -32700, message: "x" } }, undefined],
  ["a method that is none of the LSP's", notification("lares/agents/changed", { anything: 1 }), undefined],
  ["progress", notification("$/progress", { token: "t", value: { kind: "end" } }), undefined],
])("is right: %s", (_what, message, answered) => {
  expect(lspFault(message, answered)).toBeNull();
});

test.each<[string, Record<string, unknown>, string | undefined, RegExp]>([
  ["a field is missing", diagnostics({ range }), undefined, /message/],
  ["a field too many", diagnostics({ range, message: "x", nonsense: 1 }), undefined, /additional properties/],
  [
    "a negative position",
    diagnostics({ range: { ...range, start: { line: -1, character: 0 } }, message: "x" }),
    undefined,
    />= 0/,
  ],
  [
    "a fraction",
    diagnostics({ range: { ...range, start: { line: 0.5, character: 0 } }, message: "x" }),
    undefined,
    /integer/,
  ],
  ["no such severity", diagnostics({ range, message: "x", severity: 9 }), undefined, /severity/],
  [
    "no such type of message",
    notification("window/showMessage", { type: 7, message: "x" }),
    undefined,
    /type/,
  ],
  ["what came with 3.18", answer([{ title: "x", tags: [1] }]), "textDocument/codeAction", /codeAction/],
  ["another shape", answer({}), "textDocument/codeLens", /array/],
  [
    "params where there are none",
    { ...notification("workspace/codeLens/refresh", {}), id: 7 },
    undefined,
    /no params/,
  ],
  ["null as params", notification("lares/x", null), undefined, /neither object nor array/],
  ["neither result nor error", { jsonrpc: "2.0", id: 1 }, "shutdown", /result or an error/],
  [
    "both",
    { jsonrpc: "2.0", id: 1, result: null, error: { code: 1, message: "x" } },
    "shutdown",
    /result or an error/,
  ],
  [
    "an error's code that is no integer",
    { jsonrpc: "2.0", id: 1, error: { code: "x", message: "x" } },
    "shutdown",
    /integer/,
  ],
  ["another version", { jsonrpc: "1.0", id: 1, result: null }, "shutdown", /jsonrpc/],
])("is wrong: %s", (_what, message, answered, fault) => {
  expect(lspFault(message, answered)).toMatch(fault);
});
