import { Readable } from "node:stream";
import { expect, test, vi } from "vitest";
import { invalidParams } from "../../base/errors.ts";
import type { ModelsListing } from "../../base/vocabulary/model-listing.ts";
import type { CliPorts, UserServices } from "../ports.ts";
import { createProgram, runProgram } from "../program/program.ts";
import { styleFor } from "../render/style.ts";
import { renderUsage } from "../render/usage.ts";
import { FakeKernel, portsOf } from "../testing/fake-kernel.ts";
import { keepWritten } from "../testing/test-shell.ts";

const written = keepWritten({ output: "", errors: "" });

const listing: ModelsListing = {
  providers: [
    { id: "lab", api: "openai-compatible", state: "ready", local: true },
    { id: "cloud", api: "anthropic", state: "no_key", problem: "The secret is not stored.", local: false },
  ],
  models: [
    { id: "lab/small", context_tokens: 32_768 },
    { id: "cloud/large", context_tokens: 1_000_000, input_usd_per_mtok: 3, output_usd_per_mtok: 15 },
    { id: "cloud/unused" },
  ],
  routes: { default: "lab/small", worker: "cloud/large" },
};
const stored: unknown[] = [];
const services: UserServices = {
  models: {
    list: async () => listing,
    test: async (model) =>
      model === "lab/small"
        ? { ok: true, first_token_ms: 12 }
        : { ok: false, error: { class: "NoKey", message: "The key\u001b[31m is missing." } },
  },
  usage: {
    sums: async () => [
      {
        key: "2026-11-23",
        requests: 2,
        input_tokens: 1200,
        output_tokens: 30,
        reasoning_tokens: 0,
        cache_read_tokens: 0,
        cache_write_tokens: 0,
        usd: 0.0125,
      },
    ],
  },
  documentPath: "/u/lares.yaml",
  documentFaults: [],
  secrets: {
    list: async () => [
      { name: "cloud", hosts: ["api.example.com"], in: "header", created: null, source: "environment" },
    ],
    check: (name) => {
      if (name === "Cloud") throw invalidParams('"Clou…" is not a name of a secret.');
    },
    set: async (_by, name, value, hosts, place) => {
      stored.push([name, value, hosts, place]);
      return { name, hosts: [...hosts], in: place ?? "header", created: null, source: "store" };
    },
    remove: async () => undefined,
  },
};
const ports: Partial<CliPorts> = {
  withUserServices: (use) => use(services),
  models: () => [],
};
const lares = (...argv: string[]): Promise<number> =>
  runProgram(createProgram(portsOf(new FakeKernel(), ports)), argv);

test("models lists providers, and the models that are used or can be", async () => {
  expect(await lares("models")).toBe(0);
  expect(written.output).toMatch(/lab +openai-compatible +ready +this machine/);
  expect(written.output).toMatch(/cloud +anthropic +no key +the network/);
  expect(written.output).toMatch(/cloud\/large +1M +3.00 +15.00 +worker/);
  expect(written.output).toMatch(/lab\/small +33k +default/);
  expect(written.output).toContain("! cloud: The secret is not stored.");
  expect(written.output).not.toContain("cloud/unused");
});

test("models test asks each routed model, exits with 1 if one fails, and shows no control codes", async () => {
  expect(await lares("models", "test")).toBe(1);
  expect(written.output).toMatch(/✓ lab\/small {2}answers after 12 ms/);
  expect(written.output).toMatch(/✗ cloud\/large {2}The key/);
  expect(written.output).not.toContain("\u001b[31m");
  written.output = "";
  expect(await lares("models", "test", "lab/small", "--json")).toBe(0);
  expect(JSON.parse(written.output)).toEqual([{ model: "lab/small", ok: true, first_token_ms: 12 }]);
});

test("usage prints sums with tokens and dollars", async () => {
  expect(await lares("usage")).toBe(0);
  expect(written.output).toMatch(/2026-11-23 +2 +1,200 +30 +\$0\.0125/);
});

test("secrets set reads the value from standard input, without its line break", async () => {
  vi.spyOn(process, "stdin", "get").mockReturnValue(
    Readable.from([Buffer.from("the value\n")]) as unknown as typeof process.stdin,
  );
  expect(await lares("secrets", "set", "cloud", "--host", "a.example", "--host", "b.example")).toBe(0);
  expect(stored).toEqual([["cloud", "the value", ["a.example", "b.example"], undefined]]);
  expect(written.output + written.errors).not.toContain("the value");
});

test("a value on the command line, no host, and an empty value are wrong usage and store nothing", async () => {
  stored.length = 0;
  expect(await lares("secrets", "set", "cloud", "the value", "--host", "a.example")).toBe(2);
  expect(written.errors).not.toContain("the value");
  expect(await lares("secrets", "set", "cloud")).toBe(2);
  vi.spyOn(process, "stdin", "get").mockReturnValue(
    Readable.from([Buffer.from("\n")]) as unknown as typeof process.stdin,
  );
  expect(await lares("secrets", "set", "cloud", "--host", "a.example")).toBe(2);
  expect(stored).toEqual([]);
});

test("a wrong name or host is refused before the value is read", async () => {
  stored.length = 0;
  const stdin = Readable.from([Buffer.from("the value\n")]);
  vi.spyOn(process, "stdin", "get").mockReturnValue(stdin as unknown as typeof process.stdin);
  expect(await lares("secrets", "set", "Cloud", "--host", "a.example")).toBe(2);
  expect(written.errors).toContain("is not a name of a secret");
  expect(stdin.readableDidRead).toBe(false);
  expect(stored).toEqual([]);
});

test("amounts stand under each other by their points, and a small one is not shown as nothing", () => {
  const none = {
    requests: 1,
    input_tokens: 1,
    output_tokens: 1,
    reasoning_tokens: 0,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
  };
  const groups = [
    { ...none, key: "dev.example.a", usd: 1234.5 },
    { ...none, key: "dev.example.b", usd: 0.001 },
    { ...none, key: "", usd: 0 },
  ];
  const lines = renderUsage("agent", groups, { style: styleFor(false), width: 80 });
  const ends = lines.filter((line) => /\$|free/.test(line)).map((line) => line.split("  ").at(-1)?.trim());
  expect(ends).toEqual(["$1,234.50", "<$0.01", "free", "$1,234.50"]);
  expect(lines.join("\n")).toContain("no agent");
});

test("where the terminal is narrow, only what has a value is listed beneath a name", () => {
  const sums = { requests: 12, input_tokens: 123_456, output_tokens: 7_890, reasoning_tokens: 0 };
  const group = { ...sums, cache_read_tokens: 0, cache_write_tokens: 0, key: "2026-11-20", usd: 0 };
  const lines = renderUsage("day", [group], { style: styleFor(false), width: 44 });
  expect(lines).toEqual([
    "2026-11-20",
    "  Requests 12 · Tokens in 123,456",
    "  Tokens out 7,890 · Dollars free",
  ]);
});
