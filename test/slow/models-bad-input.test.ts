/**
 * Errors in what a person wrote about models: each gives one sentence with place and remedy at the command line, and
 * nothing else stops.
 */
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { tinyLlama } from "../../kernel/src/inference/testing/tiny-llama.ts";
import { Bench } from "../support/bench.ts";
import { commandLineOf, familyOf } from "../fault/support/processes.ts";
import { lares } from "../support/command-line.ts";

let bench: Bench;
let config: string;
/**
 * A proxy that closes every connection, so that no test waits for a silent one, which the egress host's slow tests
 * cover.
 */
const proxy = createServer((socket) => socket.destroy());
beforeAll(async () => {
  bench = await Bench.create({ extensions: [] });
  config = join(bench.base, "config");
  await mkdir(join(config, "lares"), { recursive: true });
  const files = {
    "fine.yaml": "turns:\n  - { say: ready, repeat: true }\n",
    "broken.yaml": "turns:\n  - { say: 5 }\n",
    "no-model.gguf": "this is no model",
    "tiny.gguf": tinyLlama(),
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(config, "lares", name), text);
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
});
afterAll(async () => {
  proxy.close();
  await bench[Symbol.asyncDispose]();
});

const providers = {
  fine: { api: "scripted", script: "./fine.yaml" },
  nokey: { api: "anthropic" },
  nosecret: { api: "openai", key: { secret: "missing" } },
  far: { api: "openai-compatible", base_url: "https://models.example.test/v1" },
};

interface Run {
  readonly models?: object;
  readonly egress?: object;
  readonly text?: string;
}

async function run({ models = {}, egress = {}, text }: Run, ...args: readonly string[]) {
  const document = { version: 1, models: { providers, ...models }, egress };
  await writeFile(join(config, "lares", "lares.yaml"), text ?? JSON.stringify(document));
  const { code, stdout, stderr } = await lares(bench, ["models", ...args], {
    XDG_CONFIG_HOME: config,
    ANTHROPIC_API_KEY: "",
    OPENAI_API_KEY: "",
  });
  return { code, said: `${stdout}${stderr}`.replaceAll(/\s+/g, " ") };
}

const withProvider = (name: string, provider: object): Run => ({
  models: { providers: { ...providers, [name]: provider } },
});

test.each<[what: string, written: Run, model: string, sentence: RegExp]>([
  [
    "a provider without a key",
    {},
    "nokey/claude",
    /The provider nokey has no key\. Run "lares secrets set nokey --host api\.anthropic\.com"/,
  ],
  [
    "a secret that is not stored",
    {},
    "nosecret/gpt",
    /The secret "missing" is not stored\. Run: lares secrets set missing --host api\.openai\.com/,
  ],
  [
    "an address that is none",
    withProvider("lost", { api: "openai-compatible", base_url: "my server" }),
    "lost/m",
    /The provider "lost" cannot be reached\. "my server" is not a complete address/,
  ],
  [
    "a model that names no provider",
    {},
    "fine",
    /"fine" does not name a configured provider \(fine, nokey.*Write provider\/model/,
  ],
  [
    "a provider that is not there",
    {},
    "nowhere/m",
    /"nowhere\/m" does not name a configured provider \(fine, nokey/,
  ],
  ["a model that is gone", {}, "fine/script2", /The provider fine has only the model fine\/script/],
  [
    "a price above a budget in dollars",
    { models: { budgets: { per_day_usd: 0.00001 } } },
    "nokey/claude-opus-4-1",
    /could exceed the budget per_day_usd.*Nothing was sent\. Raise models\.budgets\.per_day_usd/,
  ],
  [
    "a budget of zero",
    { models: { budgets: { per_day_tokens: 0 } } },
    "far/m",
    /The budget per_day_tokens is 0, so nothing was sent\. Raise models\.budgets\.per_day_tokens/,
  ],
  [
    "a budget of no dollars",
    { models: { budgets: { per_day_usd: 0 } } },
    "nokey/claude-opus-4-1",
    /The budget per_day_usd is 0, so nothing was sent\. Raise models\.budgets\.per_day_usd/,
  ],
  [
    "a script with a fault",
    withProvider("broken", { api: "scripted", script: "./broken.yaml" }),
    "broken/script",
    /The script ".*broken\.yaml" has errors: turns\[0\]\.say has to be a string/,
  ],
  [
    "a script that is not there",
    withProvider("absent", { api: "scripted", script: "./absent.yaml" }),
    "absent/script",
    /The script ".*absent\.yaml" cannot be read\. Name an existing file/,
  ],
  [
    "a GGUF file that is no model",
    withProvider("local", { api: "llama", models: { bad: { path: "./no-model.gguf" } } }),
    "local/bad",
    /no-model\.gguf is not a GGUF file: it does not begin with "GGUF"\. models\.providers\.local\.models\.bad\.path in your lares\.yaml/,
  ],
  [
    "a GGUF file that is not there",
    withProvider("local", { api: "llama", models: { gone: { path: "./gone.gguf" } } }),
    "local/gone",
    /There is no file at .*gone\.gguf\. Correct models\.providers\.local\.models\.gone\.path/,
  ],
  [
    "a folder in place of a GGUF file",
    withProvider("local", { api: "llama", models: { folder: { path: "." } } }),
    "local/folder",
    /is a folder, and not a GGUF file\. Correct models\.providers\.local\.models\.folder\.path/,
  ],
  [
    "a model of a file without a package that runs it",
    withProvider("local", { api: "llama", models: { tiny: { path: "./tiny.gguf" } } }),
    "local/tiny",
    /need the package node-llama-cpp, which is not installed\. .*npm install -g node-llama-cpp/,
  ],
  [
    "a model that a provider of files does not have",
    withProvider("local", { api: "llama", models: { tiny: { path: "./tiny.gguf" } } }),
    "local/other",
    /"local\/other" names no model of the provider local \(there are tiny\)\. Add its file/,
  ],
  ["a proxy whose address is none", { egress: { proxy: "my proxy" } }, "far/m", /"egress\.proxy"/],
])("%s", { timeout: 120_000 }, async (_what, written, model, sentence) => {
  const { code, said } = await run(written, "test", model);
  expect(said).toMatch(sentence);
  expect([code, said]).toEqual([1, expect.not.stringContaining("    at ")]);
  // Nothing else stops, except that a token budget applies to all models.
  if (!/per_day_tokens.*:0/.test(JSON.stringify(written)))
    expect(await run(written, "test", "fine/script")).toMatchObject({ code: 0 });
});

test("a proxy that hangs up is named with the setting", { timeout: 120_000 }, async () => {
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const { code, said } = await run({ egress: { proxy: address } }, "test", "far/m");
  expect([code, said]).toEqual([
    1,
    expect.stringMatching(/the proxy 127\.0\.0\.1:\d+ did not connect.*"egress\.proxy"/),
  ]);
});

test("an unknown route fails only its own requests", async () => {
  const routes = { default: "fine/script", worker: "nowhere/m" };
  const { code, said } = await run({ models: { routes } }, "test");
  expect([code, said]).toEqual([
    1,
    expect.stringMatching(/✓ fine\/script .*✗ nowhere\/m "nowhere\/m" does not name/),
  ]);
});

test("a model that a budget refuses does not stop the test of the others", async () => {
  const routes = { default: "nokey/claude-opus-4-1", worker: "fine/script" };
  const { code, said } = await run({ models: { routes, budgets: { per_day_usd: 0.00001 } } }, "test");
  expect([code, said]).toEqual([
    1,
    expect.stringMatching(
      /✗ nokey\/claude-opus-4-1 The request could exceed the budget per_day_usd.*✓ fine\/script/,
    ),
  ]);
});

test("an invalid document is named with its line", async () => {
  const text = "version: 1\nmodels:\n  routes: { default: far }\n";
  for (const args of [[], ["test", "far/m"]]) {
    const { said } = await run({ text }, ...args);
    expect(said).toMatch(
      /lares\.yaml:3: models\.routes\.default is "far"; a model is written provider\/model\. .*not used/,
    );
  }
});

test.skipIf(process.platform !== "linux")(
  "an egress host that dies at each attempt: the test of the model fails with a sentence, and is not over before",
  async () => {
    const silent = createServer((socket) => socket.resume());
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const killing = setInterval(() => {
      for (const pid of familyOf(process.pid))
        if (commandLineOf(pid).includes("egress/host/host-process")) process.kill(pid, "SIGKILL");
    }, 100);
    try {
      const base_url = `http://127.0.0.1:${port}/v1`;
      const { code, said } = await run(
        withProvider("dying", { api: "openai-compatible", base_url }),
        "test",
        "dying/m",
      );
      expect(said).toMatch(/✗ dying\/m .*egress host/);
      expect(code).toBe(1);
    } finally {
      clearInterval(killing);
      silent.close();
    }
  },
);
