import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkLares } from "../../documents/lares.ts";
import type { CommandContext } from "../command.ts";
import { styleFor } from "../render/style.ts";
import { ensureDocument } from "./starter.ts";

const templatesFolder = fileURLToPath(new URL("../../../../manifests/templates", import.meta.url));
let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "lares-starter-"));
});
afterEach(() => rm(folder, { recursive: true }));

function context(isWanted: boolean): CommandContext {
  const terminal = {
    isInteractive: true,
    errorSurface: { style: styleFor(false) },
    warn: () => undefined,
    confirm: async () => isWanted,
  };
  return { ports: { templatesFolder }, terminal } as unknown as CommandContext;
}

test("the starter is valid, and names a schema that exists", async () => {
  expect(await ensureDocument(context(true), folder)).toBe(true);
  const text = await readFile(join(folder, "lares.yaml"), "utf8");
  const { diagnostics } = await checkLares(text, "lares.yaml", { layer: "workspace" });
  expect(diagnostics).toEqual([]);
  const schema = /^# yaml-language-server: \$schema=(\S+)\n/.exec(text)?.[1] ?? "";
  expect(JSON.parse(await readFile(join(folder, schema), "utf8"))).toHaveProperty("properties.extensions");
  expect(await ensureDocument(context(false), folder)).toBe(true);
});

test("nothing is written if the person declines", async () => {
  expect(await ensureDocument(context(false), folder)).toBe(false);
  await expect(readFile(join(folder, "lares.yaml"), "utf8")).rejects.toMatchObject({ code: "ENOENT" });
});
