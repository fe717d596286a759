import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { CliPorts } from "../ports.ts";
import { createProgram, runProgram } from "../program/program.ts";
import { FakeKernel, portsOf } from "../testing/fake-kernel.ts";

let output = "";
let errors = "";
beforeEach(() => {
  output = "";
  errors = "";
  process.exitCode = undefined;
  vi.stubEnv("NO_COLOR", "1");
  vi.spyOn(process.stdout, "write").mockImplementation((text) => ((output += String(text)), true));
  vi.spyOn(process.stderr, "write").mockImplementation((text) => ((errors += String(text)), true));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  process.exitCode = undefined;
});

const ready = { path: "/c/m.onnx", fetched: true, runtime: false, document: "/u/lares.yaml" };
const ports: Partial<CliPorts> = {
  models: () => [{ name: "minilm", title: "MiniLM", licence: "Apache-2.0", megabytes: 42 }],
  fetchModel: () => Promise.resolve(ready),
};
const lares = (...argv: string[]): Promise<number> =>
  runProgram(createProgram(portsOf(new FakeKernel(), ports)), argv);

test("fetching a model prints the setting that uses it and what is missing", async () => {
  expect(await lares("models", "fetch", "minilm")).toBe(0);
  expect(output).toContain("memory: { embedder: minilm }");
  expect(output).toContain("/u/lares.yaml");
  expect(output).toContain("npm install -g onnxruntime-node");
});

test("--json prints the same data", async () => {
  expect(await lares("models", "fetch", "minilm", "--json")).toBe(0);
  expect(JSON.parse(output)).toEqual({ ...ready, name: "minilm", setting: "memory: { embedder: minilm }" });
});

test("an unknown or missing model is wrong usage, and the known ones are named", async () => {
  expect(await lares("models", "fetch", "other")).toBe(2);
  expect(errors).toContain('There is no model "other" to fetch. Use one of minilm.');
  errors = "";
  expect(await lares("models", "fetch")).toBe(2);
  expect(errors).toContain("The name of a model is missing. Use one of minilm.");
});
