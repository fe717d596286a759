import { expect, test } from "vitest";
import type { TraceStep } from "../../base/vocabulary/trace.ts";
import { aTrace } from "../testing/fake-kernel.ts";
import { renderStep } from "./step.ts";
import { noStyle } from "./style.ts";

const surface = { style: noStyle, width: 60 };
const render = (message: string, step: TraceStep, fields: Record<string, unknown>): string[] =>
  renderStep(aTrace(message, { level: "debug", step, fields }), surface);

test("a step shows what it is, its time, its values and the line of a failure", () => {
  expect(render("seen begins: EntryCreated", "begin", { event: { name: "EntryCreated" } })).toEqual([
    "▶ seen begins: EntryCreated  dev.lares.filetypes",
    '    event: {"name":"EntryCreated"}',
  ]);
  expect(
    render("vdfs/read", "call", { number: 1, took_ms: 1.5, params: { path: "a" }, result: "b" }),
  ).toEqual(["  1 vdfs/read  1.5 ms", '      params: {"path":"a"}', "      result: b"]);
  expect(
    render("seen failed", "end", {
      took_ms: 3,
      place: { path: "/x/agent.ts", line: 7 },
      error: "no light",
    }),
  ).toEqual(["✗ seen failed  3 ms  /x/agent.ts:7", "    error: no light"]);
});

test("control codes in a value are not printed, and a long value is cut", () => {
  const lines = render("vdfs/read", "call", { number: 1, result: `\u001b[2J${"word ".repeat(1000)}` });
  expect(lines.join("")).not.toContain("\u001b");
  expect(lines.at(-1)?.trim()).toBe("…");
  expect(lines.length).toBeLessThan(20);
});
