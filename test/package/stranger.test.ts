import { cp, mkdir, readFile, rm, symlink, writeFile, chmod } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { Client } from "../support/client.ts";
import { executableOf, unpack } from "../support/installed.ts";
import type { Status } from "../support/types.ts";
import { until } from "../support/until.ts";
import { type Ended, runNode } from "../support/run-node.ts";
import { makePlace, type Place } from "./support/place.ts";

/**
 * A stranger's repository with everything by which Node, npm and the tools beneath Lares may be told to load something.
 * Anything that runs leaves a trace in a file outside the repository.
 */
let place: Place;
let executable: string;
let repository: string;
let evidence: string;

/** Packages that the kernel, its children, the bundler or the test runner load by name. */
const impersonated = [
  "lares",
  "@lares/sdk",
  "@lares/sdk/testing",
  "@wasmer/sdk",
  "sharp",
  "@img/sharp-wasm32",
  "esbuild",
  "commander",
  "vscode-jsonrpc",
  "vscode-languageserver",
  "xstate",
  "ajv",
  "yaml",
  "picomatch",
  "vitest",
  "typescript",
  "tslib",
];

beforeAll(async () => {
  place = await makePlace();
  executable = executableOf(unpack(place.path("installed"), inject("tarballs")));
  repository = place.path("stranger");
  evidence = place.path("evidence");
  for (const [path, content] of Object.entries(strangersFiles())) {
    const target = join(repository, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, content);
    await chmod(target, 0o755);
  }
  await symlink("../node_modules", join(repository, ".lares", "node_modules"));
});
beforeEach(() => rm(evidence, { force: true }));
afterAll(() => place[Symbol.asyncDispose]());

function says(what: string): string {
  return `require("node:fs").appendFileSync(${JSON.stringify(evidence)}, ${JSON.stringify(`${what}\n`)});\n`;
}

function saysAsModule(what: string): string {
  return `import { appendFileSync as say } from "node:fs";\nsay(${JSON.stringify(evidence)}, ${JSON.stringify(`${what}\n`)});\nexport default {};\n`;
}

function strangersFiles(): Record<string, string> {
  const files: Record<string, string> = {};
  const inFolder = (folder: string): void => {
    for (const name of impersonated) {
      const at = `${folder}node_modules/${name}`;
      const exports = { ".": "./index.cjs", "./*": "./index.cjs", "./package.json": "./package.json" };
      const bin = { [name.replace(/.*\//, "")]: "./index.cjs" };
      files[`${at}/package.json`] = JSON.stringify({
        name,
        version: "9.9.9",
        main: "./index.cjs",
        exports,
        bin,
      });
      files[`${at}/index.cjs`] = says(`${at}/index.cjs`);
      for (const inner of ["bin/lares.js", "bin/start.cjs", "dist/main.js", "src/main.ts", "vitest.mjs"])
        files[`${at}/${inner}`] = says(`${at}/${inner}`);
    }
    const names = ["#*", "lares", "@lares/sdk", "esbuild", "./agent.ts"].map((name) => [name, "./evil.cjs"]);
    files[`${folder}package.json`] = JSON.stringify({
      name: "lares",
      type: "commonjs",
      main: "./evil.cjs",
      imports: { "#*": "./evil.cjs" },
      exports: { ".": "./evil.cjs", "./*": "./evil.cjs", "./package.json": "./package.json" },
      browser: Object.fromEntries(names) as Record<string, string>,
      sideEffects: false,
      scripts: { preinstall: "node ./evil.cjs", prepare: "node ./evil.cjs" },
    });
    files[`${folder}evil.cjs`] = says(`${folder}evil.cjs`);
    files[`${folder}tsconfig.json`] = JSON.stringify({
      extends: "./evil.json",
      compilerOptions: {
        paths: { "*": ["./evil.cjs"], "@lares/sdk": ["./evil.cjs"] },
        baseUrl: ".",
        jsxImportSource: "x",
      },
    });
    files[`${folder}evil.json`] = "{ not json";
    files[`${folder}.npmrc`] = "node-options=--require ./evil.cjs\nscript-shell=./evil.cjs\n";
    files[`${folder}.env`] = `NODE_OPTIONS=--require ./evil.cjs\nLARES_HOME=${place.path("stolen")}\n`;
    files[`${folder}node.config.json`] = JSON.stringify({ nodeOptions: { import: ["./evil.cjs"] } });
    files[`${folder}.noderc`] = "--require ./evil.cjs\n";
    files[`${folder}NODE_OPTIONS`] = "--require ./evil.cjs\n";
    for (const name of [".pnp.cjs", ".pnp.js", "index.js", "vitest.workspace.js"])
      files[`${folder}${name}`] = says(`${folder}${name}`);
    for (const name of [".pnp.loader.mjs", "vitest.config.mjs", "vite.config.mjs", "esbuild.config.mjs"])
      files[`${folder}${name}`] = saysAsModule(`${folder}${name}`);
    for (const name of ["node", "npm", "lares", "esbuild"])
      for (const bin of ["", "node_modules/.bin/"])
        files[`${folder}${bin}${name}`] = `#!/bin/sh\necho '${folder}${bin}${name}' >> '${evidence}'\n`;
  };
  inFolder("");
  inFolder(".lares/extensions/guest/");
  files["lares.yaml"] = JSON.stringify({ version: 1, extensions: [{ id: "com.stranger.guest" }] });
  files["note.md"] = "a note\n";
  files[".lares/extensions/guest/extension.yaml"] = JSON.stringify({
    extension: {
      id: "com.stranger.guest",
      name: "Guest",
      version: "1.0.0",
      main: "agent.ts",
      permissions: { read_entries: true },
      tools: [{ name: "who", description: "whose SDK this is", handler: "who" }],
    },
  });
  files[".lares/extensions/guest/agent.ts"] = `import { defineAgent, LaresError } from "@lares/sdk";
export default defineAgent({ tools: { async who(_, ctx) {
  return { sdk: new LaresError("Stale", "x").name, entries: (await ctx.vdfs.query({ extension: "md" })).items.length };
} } });
`;
  return files;
}

function lares(...argv: string[]): Promise<Ended> {
  return runNode([executable, ...argv], { cwd: repository, env: place.environment });
}

async function whatRan(): Promise<string> {
  return await readFile(evidence, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
}

describe("the traps work: what does load them leaves its evidence", () => {
  it.each([
    ["a package by its name", `require("esbuild")`],
    ["the package itself, by its own name", `require("lares")`],
    ["an import of package.json", `import("#anything")`],
  ])("%s", async (_, program) => {
    await writeFile(join(repository, "trap.cjs"), program);
    await runNode(["trap.cjs"], { cwd: repository, env: place.environment });
    await rm(join(repository, "trap.cjs"));
    expect(await whatRan()).not.toBe("");
  });
});

describe("in a stranger's repository an installed lares loads nothing of it", () => {
  it.each<[string[], number]>([
    [["--version"], 0],
    [["--help"], 0],
    [["check"], 0],
    [["check", "--explain", "."], 0],
    [["doctor"], 0],
    [["agents"], 0],
    [["run", "--once", "--approve", "policy"], 1],
    [["new", "mine"], 0],
    [["run", "--once", "--trust", "--approve", "all"], 0],
    [["tools", "call", "com.stranger.guest/who"], 0],
    [["memory", "verify"], 0],
  ])("lares %j", async (argv, code) => {
    const ended = await until("an answer that is no matter of time", async () => {
      const answer = await lares(...argv);
      return answer.stderr.includes("takes too long to check") ? null : answer;
    });
    expect(await whatRan()).toBe("");
    expect(ended, ended.stdout + ended.stderr).toMatchObject({ code });
    // The program ran with the SDK that came with the kernel.
    if (argv[0] === "tools") expect(ended.stdout).toMatch(/LaresError/);
  });

  it("serve --stdio, trusted: the front, its kernel and the sandbox", async () => {
    await using client = new Client({
      home: place.path("served"),
      cwd: repository,
      executable,
      environment: { LARES_KERNEL_LINGER: "0s" },
    });
    await mkdir(place.path("served"), { recursive: true });
    await client.request("initialize", {
      processId: process.pid,
      rootUri: pathToFileURL(repository).href,
      capabilities: {},
      initializationOptions: { lares: { trusted: true } },
    });
    client.notify("initialized", {});
    await until("the kernel to be ready", async () => (await client.request<Status>("lares/status")).ready);
    const result = await client.request("lares/tools/call", {
      agent: "com.stranger.guest",
      name: "who",
      arguments: {},
    });
    expect(result).toMatchObject({ status: "success", value: { sdk: "LaresError" } });
    expect(await client.shutdown()).toMatchObject({ code: 0 });
    expect(await whatRan()).toBe("");
  });

  it("also if the whole repository is beneath a node_modules, and if it is a copy of the package", async () => {
    const inside = place.path("outer", "node_modules", "lares");
    await mkdir(dirname(inside), { recursive: true });
    await cp(repository, inside, { recursive: true, verbatimSymlinks: true });
    const ended = await runNode([executable, "run", "--once", "--trust"], {
      cwd: inside,
      env: place.environment,
    });
    expect(await whatRan()).toBe("");
    expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
  });
});
