import { expect, test } from "vitest";
import { aTrace } from "../testing/fake-kernel.ts";
import { renderStep, stepOf } from "./step.ts";
import { noStyle } from "./style.ts";

const surface = { style: noStyle, width: 60 };
const render = (message: string, fields: Record<string, unknown>): string[] =>
  renderStep(aTrace(message, { level: "debug", fields }), surface);

test("a step shows what it is, its time, its values and the line of a failure", () => {
  expect(render("seen begins: EntryCreated", { step: "begin", event: { name: "EntryCreated" } })).toEqual([
    "▶ seen begins: EntryCreated  dev.lares.filetypes",
    '    event: {"name":"EntryCreated"}',
  ]);
  expect(
    render("vdfs/read", { step: "call", number: 1, took_ms: 1.5, params: { path: "a" }, result: "b" }),
  ).toEqual(["  1 vdfs/read  1.5 ms", '      params: {"path":"a"}', "      result: b"]);
  expect(
    render("seen failed", {
      step: "end",
      took_ms: 3,
      place: { path: "/x/agent.ts", line: 7 },
      error: "no light",
    }),
  ).toEqual(["✗ seen failed  3 ms  /x/agent.ts:7", "    error: no light"]);
});

test("control codes in a value are not printed, and a long value is cut", () => {
  const lines = render("vdfs/read", { step: "call", number: 1, result: `\u001b[2J${"word ".repeat(1000)}` });
  expect(lines.join("")).not.toContain("\u001b");
  expect(lines.at(-1)?.trim()).toBe("…");
  expect(lines.length).toBeLessThan(20);
});

test("a trace that the agent wrote is not a step", () => {
  expect(stepOf(aTrace("said", { fields: { step: "call" } }))).toBeNull();
});
