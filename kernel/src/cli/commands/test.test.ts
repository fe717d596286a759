import { spawnSync } from "node:child_process";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, it } from "vitest";
import { testShell } from "../testing/test-shell.ts";

const shell = testShell();
const { lares } = shell;

const executable = fileURLToPath(new URL("../../../bin/lares.js", import.meta.url));

describe("test", () => {
  const extension = () => join(shell.folder, "note-titles");
  beforeEach(async () => {
    await lares(["new", extension(), "--template", "ts"]);
    shell.output = "";
  });

  /** In a process of its own, so that what its Vitest prints is not taken for what this one says. */
  const byItself = () => spawnSync(process.execPath, [executable, "test", extension()], { encoding: "utf8" });

  it("a new extension passes its own tests, which leave nothing behind", async () => {
    const before = await readdir(extension());
    const { status, stdout } = byItself();
    expect(status).toBe(0);
    expect(stdout).toMatch(/^✓ extension.yaml\n✓ it can be loaded\n[^]*Tests {2}5 passed/);
    expect(await readdir(extension())).toEqual(before);
  });

  it("a test that fails is a failure", async () => {
    const text = await readFile(join(extension(), "title.ts"), "utf8");
    await writeFile(join(extension(), "title.ts"), text.replace("toUpperCase", "toLowerCase"));
    expect(byItself().status).toBe(1);
  });

  it("runs no test if the manifest or the program is invalid", async () => {
    const programFault = () => Promise.resolve("agent.ts:3:1: no such import");
    expect(await lares(["test", extension()], { programFault })).toBe(1);
    expect(shell.output).toContain("✗ program: agent.ts:3:1: no such import");
    const file = join(extension(), "extension.yaml");
    const fault = { file, line: 1, column: 1, severity: "error", code: "x", message: "wrong" } as const;
    shell.output = "";
    expect(await lares(["test", extension()], { checkDocument: () => Promise.resolve([fault]) })).toBe(1);
    expect(shell.output).toBe(`${file}:1:1  x  wrong\n`);
  });

  it("reports missing tests and a missing extension", async () => {
    await rm(join(extension(), "title.test.ts"));
    expect(await lares(["test", extension()])).toBe(0);
    expect(shell.errors).toContain("no *.test.ts");
    expect(await lares(["test", shell.folder])).toBe(2);
    expect(shell.errors).toContain("is not an extension");
  });
});
