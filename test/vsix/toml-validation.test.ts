import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { unpackVsix } from "../../vscode-client/build/archive.ts";
import type { TomlValidation } from "../../vscode-client/build/toml-validation.ts";
import { expectOnlyOurs } from "../schemas/support/contributed.ts";
import { ServedFolder } from "../schemas/support/served.ts";
import { hasTombi, startTaplo, startTombi } from "../schemas/support/validators.ts";
import { TemporaryFolder } from "../support/temporary-folder.ts";

const repository = fileURLToPath(new URL("../../", import.meta.url));

let base: TemporaryFolder;
beforeAll(async () => {
  base = await TemporaryFolder.create("lares-vsix-toml-");
});
afterAll(() => base[Symbol.asyncDispose]());

/** The extension that setup.ts has built. */
const building = process.env["LARES_VSIX"] ? [] : ["--no-build"];

function packageWith(args: readonly string[]): string {
  return execFileSync(process.execPath, ["vscode-client/build/package.ts", ...building, ...args], {
    cwd: repository,
    encoding: "utf8",
    stdio: "pipe",
  });
}

async function contributedBy(extension: string): Promise<readonly TomlValidation[] | undefined> {
  const text = await readFile(join(extension, "package.json"), "utf8");
  const { contributes } = JSON.parse(text) as { contributes: { tomlValidation?: TomlValidation[] } };
  return contributes.tomlValidation;
}

it("contributes nothing to other tools for TOML where nobody said where its schemas are served", async () => {
  const folder = join(base.path, "without");
  await unpackVsix(inject("vsix"), folder);
  expect(await contributedBy(join(folder, "extension"))).toBeUndefined();
});

it("is not made with an address that will not do", () => {
  expect(() =>
    packageWith(["--schemas-url", "http://example.com", "--out", join(base.path, "no.vsix")]),
  ).toThrow(/--schemas-url http:\/\/example\.com: it must begin with https/);
});

describe("made with --schemas-url, by its package.json and its schemas", () => {
  const folder = (): string => join(base.path, "with", "extension");
  let served: ServedFolder;
  beforeAll(async () => {
    // Named before it exists: the package comes first, and its content is served.
    served = await ServedFolder.start(join(folder(), "dist", "schemas"));
    const vsix = join(base.path, "with.vsix");
    expect(packageWith(["--schemas-url", served.url, "--out", vsix])).toContain(
      `Even Better TOML and Tombi are sent to ${served.url}/lares.schema.json and `,
    );
    await unpackVsix(vsix, join(base.path, "with"));
  });
  afterAll(() => served?.[Symbol.asyncDispose]());

  it("has Even Better TOML's server hold our documents against them, and no others", async () => {
    await using server = await startTaplo(base.path);
    await expectOnlyOurs(server, (await contributedBy(folder())) ?? []);
  });

  it.skipIf(!hasTombi)("has Tombi hold our documents against them, and no others", async () => {
    await using server = await startTombi(base.path);
    await expectOnlyOurs(server, (await contributedBy(folder())) ?? []);
  });
});
