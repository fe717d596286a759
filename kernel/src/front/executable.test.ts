import { spawnSync } from "node:child_process";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { transform } from "esbuild";
import { expect, test } from "vitest";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";

test("the executable parses on a Node that is too old, to be able to say so", async () => {
  const source = await readFile(new URL("../../bin/lares.js", import.meta.url), "utf8");
  // Newer syntax that esbuild cannot express in ES5 is an error; what it can would change the text.
  const options = { minify: true, charset: "utf8" } as const;
  const old = await transform(source, { ...options, target: "es5" });
  const current = await transform(source, {
    ...options,
    target: "esnext",
    supported: { "template-literal": false },
  });
  expect(old.code).toBe(current.code);
});

/** Pretends to the program that it runs on an old Node. */
const oldNode = `Object.defineProperty(process.versions, "node", { value: "18.20.0" });`;

/** A copy of the executable with what npm would have installed beside it. */
async function installed(newerNode?: string): Promise<string[]> {
  const folder = await temporaryFolder();
  const bin = join(folder, "node_modules", "lares", "bin");
  await cp(new URL("../../bin/", import.meta.url), bin, { recursive: true });
  await writeFile(join(folder, "old-node.cjs"), oldNode);
  if (newerNode !== undefined) {
    const node = join(folder, "node_modules", "node", "bin", "node");
    await mkdir(dirname(node), { recursive: true });
    await writeFile(node, newerNode, { mode: 0o755 });
  }
  return ["--require", join(folder, "old-node.cjs"), join(bin, "lares.js")];
}

const run = (args: readonly string[]) =>
  spawnSync(process.execPath, args, { encoding: "utf8", input: "typed" });

test("on an old Node it says which one is needed", async () => {
  const { status, stderr } = run([...(await installed()), "--version"]);
  expect(stderr).toMatch(/^lares needs Node\.js 24 or newer; this is v/);
  expect(status).toBe(1);
});

test.skipIf(process.platform === "win32")(
  "on an old Node it runs with the one installed beside it: its arguments, input, output and exit code",
  async () => {
    const newer = '#!/bin/sh\nfor last; do :; done\nprintf "%s %s" "$last" "$(cat)"\nexit 7\n';
    const { status, stdout, stderr } = run([...(await installed(newer)), "check", "two words"]);
    expect({ status, stdout, stderr }).toEqual({ status: 7, stdout: "two words typed", stderr: "" });
  },
);

test.skipIf(process.platform === "win32")(
  "where the newer Node is ended by a signal, it ends by the same",
  async () => {
    const { signal } = run(await installed("#!/bin/sh\nkill -KILL $$\n"));
    expect(signal).toBe("SIGKILL");
  },
);
