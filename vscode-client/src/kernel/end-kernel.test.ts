import process from "node:process";
import { expect, it } from "vitest";
import { endKernel, stopArguments } from "./end-kernel.ts";

const running = (program: string) =>
  endKernel({ kind: "start", command: process.execPath, args: ["-e", program], env: {} });

it.each([
  ["one that heard", '{"pid":7,"killed":false}', "The kernel (process 7) was ended."],
  ["one that did not", '{"pid":7,"killed":true}', "The kernel (process 7) did not answer and was killed."],
  ["none", '{"pid":null,"killed":false}', "No kernel was running."],
  ["another program's words", "[", "No kernel was running."],
])("what came of it, as a sentence: %s", async (_name, printed, sentence) => {
  expect(await running(`console.log(${JSON.stringify(printed)})`)).toBe(sentence);
});

it("the reason why it is still running, in one line without terminal codes", async () => {
  const program = 'process.stderr.write("error \\u001b[31mit waits\\nfor the disk"); process.exitCode = 1';
  await expect(running(program)).rejects.toThrow(/^error .*it waits for the disk$/);
  await expect(running(program)).rejects.not.toThrow("\u001b");
});

it("if no kernel can be started, none is ended either", async () => {
  await expect(endKernel({ kind: "refused", reason: "there is none" })).rejects.toThrow("there is none");
});

it("a folder whose name begins with a dash is not an option", () => {
  expect(stopArguments(["--help"])).toEqual(["stop", "--json", "--", "--help"]);
});
