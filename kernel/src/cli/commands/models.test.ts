import { expect, test } from "vitest";
import type { CliPorts, ExtensionModelListing, ExtensionModelsPort } from "../ports.ts";
import { createProgram, runProgram } from "../program/program.ts";
import { FakeKernel, portsOf } from "../testing/fake-kernel.ts";
import { keepWritten } from "../testing/test-shell.ts";

const written = keepWritten({ output: "", errors: "" });

const ready = { path: "/c/m.onnx", fetched: true, runtime: false, document: "/u/lares.yaml" };
const ports: Partial<CliPorts> = {
  models: () => [{ name: "minilm", title: "MiniLM", licence: "Apache-2.0", megabytes: 42 }],
  fetchModel: () => Promise.resolve(ready),
};
const lares = (...argv: string[]): Promise<number> =>
  runProgram(createProgram(portsOf(new FakeKernel(), ports)), argv);

test("fetching a model prints the setting that uses it and what is missing", async () => {
  expect(await lares("models", "fetch", "minilm")).toBe(0);
  expect(written.output).toContain("memory: { embedder: minilm }");
  expect(written.output).toContain("/u/lares.yaml");
  expect(written.output).toContain("npm install -g onnxruntime-node");
});

test("--json prints the same data", async () => {
  expect(await lares("models", "fetch", "minilm", "--json")).toBe(0);
  expect(JSON.parse(written.output)).toEqual({
    ...ready,
    name: "minilm",
    setting: "memory: { embedder: minilm }",
  });
});

test("an unknown or missing model is wrong usage, and the known ones are named", async () => {
  expect(await lares("models", "fetch", "other")).toBe(2);
  expect(written.errors).toContain(
    'There is no model "other" to fetch. Use one of minilm, or <extension>[/<model>].',
  );
  written.errors = "";
  expect(await lares("models", "fetch")).toBe(2);
  expect(written.errors).toContain(
    "The name of a model is missing. Use one of minilm, or <extension>[/<model>].",
  );
});

const listed: readonly ExtensionModelListing[] = [
  {
    extension: "dev.photos",
    name: "faces",
    version: "v1",
    megabytes: 12,
    hosts: ["models.example.com"],
    sha256: "a".repeat(64),
    state: "partial",
    bytes: 3 * 1024 * 1024,
  },
  {
    extension: "dev.photos",
    name: "old",
    version: "",
    megabytes: 0,
    hosts: [],
    state: "unavailable",
    bytes: 0,
    problem: 'The model "old" is declared with no source.url, so it cannot be fetched.',
  },
];
const withModels = (fetch: ExtensionModelsPort["fetch"]): Partial<CliPorts> => ({
  ...ports,
  withExtensionModels: (use) =>
    use({
      list: (extension) =>
        Promise.resolve(
          extension === undefined ? listed : listed.filter((each) => each.extension === extension),
        ),
      fetch,
      runtime: false,
    }),
});
const run = (fetch: ExtensionModelsPort["fetch"], ...argv: string[]): Promise<number> =>
  runProgram(createProgram(portsOf(new FakeKernel(), withModels(fetch))), argv);
const arrives: ExtensionModelsPort["fetch"] = (_model, { received }) => {
  received(4 * 1024 * 1024);
  return Promise.resolve({ path: "/c/x.onnx", fetched: true, bytes: 12_000_000 });
};

test("the models of an extension are fetched, and what cannot be fetched is said", async () => {
  expect(await run(arrives, "models", "fetch", "dev.photos")).toBe(0);
  expect(written.output).toContain("dev.photos/faces was fetched to /c/x.onnx (11 MB)");
  expect(written.output).toContain("npm install -g onnxruntime-node");
  expect(written.errors).toContain("no source.url");
  written.output = "";
  expect(await run(arrives, "models", "fetch", "dev.photos/faces", "--json")).toBe(0);
  expect(JSON.parse(written.output)).toEqual({
    models: [
      {
        extension: "dev.photos",
        name: "faces",
        sha256: "a".repeat(64),
        path: "/c/x.onnx",
        bytes: 12_000_000,
        fetched: true,
      },
    ],
    runtime: false,
  });
  written.errors = "";
  expect(await run(arrives, "models", "fetch", "dev.photos/none")).toBe(2);
  expect(written.errors).toContain('dev.photos has no model "none". Use one of faces, old.');
  expect(await run(arrives, "models", "fetch", "dev.photos/old")).toBe(2);
  expect(await run(arrives, "models", "fetch", "dev.other")).toBe(2);
  expect(written.errors).toContain("dev.other declares no models.");
});
