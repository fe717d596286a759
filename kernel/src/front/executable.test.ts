import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { transform } from "esbuild";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";

test("the executable parses on a Node that is too old, so that it can report it", async () => {
  const source = await readFile(new URL("../../bin/lares.js", import.meta.url), "utf8");
  // Newer syntax that esbuild cannot express in ES5 is an error; what it can would change the text.
  const options = { minify: true, charset: "utf8" } as const;
  const old = await transform(source, { ...options, target: "es5" });
  const current = await transform(source, {
    ...options,
    target: "esnext",
    supported: { "template-literal": false, "optional-catch-binding": false },
  });
  expect(old.code).toBe(current.code);
  // esbuild leaves these out in both. Before Node 8 they are a syntax error; Prettier writes them in calls it breaks.
  expect(source).not.toMatch(/,\s*\)/);
});

/** Makes the program see an old version of Node. */
const oldNode = `Object.defineProperty(process.versions, "node", { value: "18.20.0" });`;
/** Stands in for a newer Node: prints its last argument and its input, and exits with 7. */
const showing = `for last; do :; done
printf "%s %s" "$last" "$(cat)"
exit 7
`;
const shown = { status: 7, signal: null, stdout: "two words typed", stderr: "" };

interface Place {
  readonly folder: string;
  /** The path of the executable. */
  readonly called: string;
}

/** Copies the executable to `at`. */
async function place(at: string): Promise<Place> {
  const folder = await temporaryFolder();
  await cp(new URL("../../bin/", import.meta.url), join(folder, at), { recursive: true });
  return { folder, called: join(folder, at, "lares.js") };
}

/** Writes an executable shell script that stands in for Node. */
async function script(path: string, body: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `#!/bin/sh\n${body}`, { mode: 0o755 });
}

/** The npm package `node`, with a script in place of Node. */
async function nodePackage(folder: string, body: string, version = "24.1.0"): Promise<void> {
  const package_ = join(folder, "node_modules", "node");
  await script(join(package_, "bin", "node"), body);
  await writeFile(join(package_, "package.json"), JSON.stringify({ name: "node", version }));
}

async function command({ folder, called }: Place): Promise<string[]> {
  await writeFile(join(folder, "old-node.cjs"), oldNode);
  return ["--require", join(folder, "old-node.cjs"), called, "check", "two words"];
}

async function run(place: Place, environment: NodeJS.ProcessEnv = {}) {
  const { VSCODE_GIT_ASKPASS_NODE: _, ...inherited } = process.env;
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, await command(place), {
    encoding: "utf8",
    input: "typed",
    env: { ...inherited, ...environment },
  });
  return { status, signal, stdout, stderr };
}

const refusal = {
  status: 1,
  stdout: "",
  stderr: expect.stringMatching(/^lares needs Node\.js 24 or newer; this is v/) as string,
};

test("on an old Node the error names the version that is needed", async () => {
  expect(await run(await place("node_modules/lares/bin"))).toMatchObject(refusal);
});

describe.skipIf(process.platform === "win32")("on an old Node it runs again with", () => {
  test.each([
    ["a project's", "node_modules/lares/bin", "."],
    ["its own", "node_modules/lares/bin", "node_modules/lares"],
    ["a workspace's, above its package", "kernel/bin", "."],
    ["the one below a global prefix", "lib/node_modules/lares/bin", "lib"],
  ])("%s: its arguments, input, output and exit code", async (_, at, beside) => {
    const installed = await place(at);
    await nodePackage(join(installed.folder, beside), showing);
    expect(await run(installed)).toEqual(shown);
  });

  test("the Node of the project that calls a linked package", async () => {
    const linked = await place("elsewhere/lares/bin");
    const project = join(linked.folder, "project");
    await nodePackage(project, showing);
    await mkdir(join(project, "node_modules", ".bin"));
    await symlink(dirname(dirname(linked.called)), join(project, "node_modules", "lares"));
    const called = join(project, "node_modules", ".bin", "lares");
    await symlink("../lares/bin/lares.js", called);
    expect(await run({ ...linked, called })).toEqual(shown);
  });

  test("the Node of the editor extension's package", async () => {
    const packaged = await place("kernel/lib/node_modules/lares/bin");
    await script(join(packaged.folder, "kernel", "node", "bin", "node"), showing);
    expect(await run(packaged)).toEqual(shown);
  });

  test("the nearest Node that is new enough", async () => {
    const installed = await place("inner/node_modules/lares/bin");
    await nodePackage(join(installed.folder, "inner"), "exit 3", "22.20.0");
    await nodePackage(installed.folder, showing);
    expect(await run(installed)).toEqual(shown);
  });

  test("no other Node if all are old: two would start each other for ever", async () => {
    const installed = await place("inner/node_modules/lares/bin");
    await nodePackage(join(installed.folder, "inner"), "exit 3", "22.20.0");
    await nodePackage(installed.folder, "exit 3", "20.1.0");
    expect(await run(installed)).toMatchObject(refusal);
  });

  /** An editor's executable: it runs as Node only if its environment says so, which also names the version. */
  const editor = (version: string): string => `
[ "$ELECTRON_RUN_AS_NODE" = 1 ] || exit 9
if [ "$1" = -p ]; then echo ${version}; exit 0; fi
${showing}`;

  test("the editor's own Node in its terminal", async () => {
    const installed = await place("node_modules/lares/bin");
    const path = join(installed.folder, "editor");
    await script(path, editor("24.14.0"));
    expect(await run(installed, { VSCODE_GIT_ASKPASS_NODE: path })).toEqual(shown);
  });

  test("not with an editor's Node that is old, missing, or named without a folder", async () => {
    const installed = await place("node_modules/lares/bin");
    const path = join(installed.folder, "editor");
    await script(path, editor("22.22.1"));
    for (const named of [path, join(installed.folder, "gone"), "node"])
      expect(await run(installed, { VSCODE_GIT_ASKPASS_NODE: named })).toMatchObject(refusal);
  });

  test("another Node, and ends by the same signal", async () => {
    const installed = await place("node_modules/lares/bin");
    await nodePackage(installed.folder, "kill -KILL $$\n");
    expect(await run(installed)).toMatchObject({ status: null, signal: "SIGKILL" });
  });

  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "another Node, which receives its %s",
    async (signal) => {
      const installed = await place("node_modules/lares/bin");
      const program = `process.on("${signal}", () => { console.log("got it"); process.exit(5); });
      setInterval(() => {}, 1000); console.log("ready");`;
      await nodePackage(installed.folder, `exec "${process.execPath}" -e '${program}'\n`);
      const child = spawn(process.execPath, await command(installed), {
        stdio: ["ignore", "pipe", "inherit"],
      });
      let said = "";
      child.stdout.on("data", (chunk: Buffer) => {
        said += chunk.toString();
        if (said === "ready\n") child.kill(signal);
      });
      const [status] = (await once(child, "close")) as [number | null];
      expect({ status, said }).toEqual({ status: 5, said: "ready\ngot it\n" });
    },
  );
});
