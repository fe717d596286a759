import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { symlink } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Bench, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { lares } from "../support/command-line.ts";
import type { Action } from "../support/types.ts";
import { until } from "../support/until.ts";

const ID = "local.demo";
const compilers = fileURLToPath(new URL("../../kernel/build/compilers/node_modules", import.meta.url));

interface Toolchain {
  readonly language: string;
  /** The commands that build the program and run the template's own tests, in its folder. */
  readonly build: readonly string[];
  readonly test: readonly string[];
  /** Returns the folders in which the compilers are to be found first; null if they are not on this machine. */
  readonly find: () => readonly string[] | null;
  readonly missing: string;
}

function answers(command: string, args: readonly string[], input = ""): string | null {
  const ended = spawnSync(command, args, { encoding: "utf8", input });
  return ended.error === undefined && ended.status === 0 ? ended.stdout.trim() : null;
}

/** A machine may have several; not each has the standard library for WASI. */
function rustFolders(): readonly string[] | null {
  for (const folder of [...(process.env["PATH"] ?? "").split(delimiter), "/usr/bin"]) {
    const sysroot = answers(join(folder, "rustc"), ["--print", "sysroot"]);
    if (sysroot === null || answers(join(folder, "cargo"), ["--version"]) === null) continue;
    const has = (target: string): boolean => existsSync(join(sysroot, "lib", "rustlib", target));
    if (has("wasm32-wasip1") || has("wasm32-wasi")) return [folder];
  }
  return null;
}

const empty = "int main(void) { return 0; }";
const toolchains: readonly Toolchain[] = [
  {
    language: "assemblyscript",
    build: ["npm", "run", "build"],
    test: ["npm", "test"],
    find: () => (existsSync(join(compilers, "assemblyscript")) ? [dirname(process.execPath)] : null),
    missing: "The AssemblyScript compiler is not installed.",
  },
  {
    language: "c",
    build: ["make"],
    test: ["make", "test"],
    find: () =>
      answers("clang", ["--target=wasm32-wasi", "-x", "c", "-", "-o", "/dev/null"], empty) === null
        ? null
        : [],
    missing: "No clang with a C library for WASI is installed.",
  },
  {
    language: "go",
    build: ["make"],
    test: ["make", "test"],
    find: () => (answers("go", ["tool", "dist", "list"])?.includes("wasip1/wasm") === true ? [] : null),
    missing: "No Go of version 1.21 or later is installed.",
  },
  {
    language: "rust",
    build: ["make"],
    test: ["make", "test"],
    find: rustFolders,
    missing: "No Rust with its standard library for WASI is installed.",
  },
];

describe.each(toolchains)(
  "the template in $language",
  ({ language, build, test: ownTest, find, missing }) => {
    const folders = find();
    let bench: Bench;
    let folder: string;
    let client: Client;
    const environment: NodeJS.ProcessEnv = {
      ...process.env,
      PATH: [...(folders ?? []), process.env["PATH"]].join(delimiter),
      // Without the registry of modules, which no template needs.
      GOFLAGS: "-mod=mod",
      GOPROXY: "off",
    };
    const run = (words: readonly string[]): { status: number | null; output: string } => {
      const [command = "", ...args] = words;
      const ended = spawnSync(command, args, { cwd: folder, env: environment, encoding: "utf8" });
      return { status: ended.status, output: `${ended.stdout}${ended.stderr}` };
    };

    beforeAll(async () => {
      if (folders === null) return;
      const extensions = [{ path: "../made/demo", grants: { locations: ["."] } }];
      // Without the rule, the kernel adds the tag at once.
      const approvals = { rules: [{ decide: "ask", kind: "tag.add" }] };
      bench = await Bench.create({ lares: { extensions, approvals } });
      folder = join(bench.base, "made", "demo");
      const made = await lares(bench, ["new", "../made/demo", "--template", language]);
      expect(made, made.stderr).toMatchObject({ code: 0 });
      if (language === "assemblyscript") await symlink(compilers, join(folder, "node_modules"));
    });
    afterAll(async () => {
      await bench?.[Symbol.asyncDispose]();
    });

    test("is built, passes its own test, and has a sound manifest", async (context) => {
      if (folders === null) return context.skip(missing);
      const built = run(build);
      expect(built, built.output).toMatchObject({ status: 0 });
      const tested = run(ownTest);
      expect(tested, tested.output).toMatchObject({ status: 0 });
      const checked = await lares(bench, ["test", folder]);
      expect(checked, checked.stdout).toMatchObject({ code: 0 });
    });

    test("holds every rule of the guest ABI that applies to it", async (context) => {
      if (folders === null) return context.skip(missing);
      const ended = await lares(bench, ["conformance", folder]);
      expect(ended, ended.stdout).toMatchObject({ code: 0 });
      for (const rule of ["hooks", "tools", "ping-while-waiting", "load", "host-call-errors", "shutdown"])
        expect(ended.stdout).toContain(`✓ ${rule}\n`);
    });

    test("in a real kernel its event is handled and its tool answers", async (context) => {
      if (folders === null) return context.skip(missing);
      client = await bench.open();
      await bench.write("notes/ä note.md", "milk\n");
      const action = await until("its proposal", async () => {
        const actions = await client.request<Action[]>("lares/actions/list", {});
        return actions.find(({ agent }) => agent === ID);
      });
      expect(action).toMatchObject({
        title: "Tag ä note.md with #inbox",
        effects: [{ kind: "tag.add", path: "notes/ä note.md", tag: "#inbox" }],
      });
      expect(await tool(client, ID, "untagged", { limit: 10 })).toEqual(["notes/ä note.md"]);
      await client.request("lares/actions/approve", { id: action.id, digest: action.digest });
      await until(
        "the tag",
        async () => (await tool<string[]>(client, ID, "untagged", { limit: 10 })).length === 0,
      );
    });
  },
);

test("the template in TypeScript holds every rule of the guest ABI that applies to it", async () => {
  await using bench = await Bench.create();
  const made = await lares(bench, ["new", "../made/demo"]);
  expect(made, made.stderr).toMatchObject({ code: 0 });
  const ended = await lares(bench, ["conformance", join(bench.base, "made", "demo")]);
  expect(ended, ended.stdout).toMatchObject({ code: 0 });
  for (const rule of ["hooks", "hook-order", "tools", "ping-while-waiting", "load", "cancel-tool"])
    expect(ended.stdout).toContain(`✓ ${rule}\n`);
});
