import { execFileSync } from "node:child_process";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { executableOf, unpack } from "../support/installed.ts";
import { until } from "../support/until.ts";
import { runNode } from "../support/run-node.ts";
import { makePlace, type Place, repository } from "./support/place.ts";

/** An author's project: both packages, TypeScript and Vitest, and nothing of this checkout. */
let place: Place;
let project: string;
beforeAll(async () => {
  place = await makePlace();
  project = place.path("project");
  const installed = unpack(project, inject("tarballs"), ["vitest", "@types/node", "typescript"]);
  await write("package.json", { type: "module", private: true });
  const lares = executableOf(installed);
  const made = await runNode([lares, "new", "demo"], { cwd: project, env: place.environment });
  expect(made, made.stderr).toMatchObject({ code: 0 });
  await cp(new URL("support/agent.test.ts.txt", import.meta.url), join(project, "demo", "agent.test.ts"));
  await mkdir(join(project, "notes"));
  await writeFile(join(project, "notes", "milk.md"), "milk\n");
});
afterAll(() => place[Symbol.asyncDispose]());

function write(path: string, value: unknown): Promise<void> {
  return writeFile(join(project, path), JSON.stringify(value));
}

const compilerOptions = {
  target: "esnext",
  module: "nodenext",
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  allowImportingTsExtensions: true,
};

async function typesOf(config: object): Promise<{ code: number; output: string }> {
  await write("tsconfig.json", config);
  const compiler = join(repository, "node_modules", "typescript", "bin", "tsc");
  const { code, stdout } = await runNode([compiler, "-p", project], { cwd: project, env: place.environment });
  return { code: code ?? -1, output: stdout };
}

it("type-checks against the declarations alone, those of the package included, without Node's types", async () => {
  const include = ["demo/agent.ts", "uses.ts"];
  const config = { compilerOptions: { ...compilerOptions, skipLibCheck: false, types: [] }, include };
  const uses = `import { mockContext, runInKernel, type RunningKernel } from "@lares/sdk/testing";
import { isLaresError, type EntryCreated } from "@lares/sdk";
export const title = mockContext({ entries: [{ path: "a.md" }] }).recorded.actions[0]?.title;
export const kernel: Promise<RunningKernel> = runInKernel("demo", "notes");
export const size = (event: EntryCreated): number => event.entry.size;
export const isStale = (error: unknown): boolean => isLaresError(error, "Stale");
`;
  await writeFile(join(project, "uses.ts"), uses);
  expect(await typesOf(config)).toEqual({ code: 0, output: "" });
  await writeFile(join(project, "uses.ts"), `${uses}export const wrong: number = title;\n`);
  expect(await typesOf(config)).toMatchObject({
    code: 1,
    output: expect.stringContaining("uses.ts(7") as string,
  });
});

it("its tests type-check, and run mockContext and the real kernel, with its own Vitest", async () => {
  const include = ["demo"];
  expect(
    await typesOf({ compilerOptions: { ...compilerOptions, skipLibCheck: true, types: ["node"] }, include }),
  ).toEqual({ code: 0, output: "" });
  const vitest = join(project, "node_modules", "vitest", "vitest.mjs");
  const argv = [vitest, "run", "--root", project, "--testTimeout", "120000"];
  const ended = await runNode(argv, { cwd: project, env: { ...place.environment, CI: "1" } });
  expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
  expect(ended.stdout).toMatch(/Test Files.* 2 passed/);
});

it("is found as JavaScript by Node itself, without the sources' condition", async () => {
  const program = `const found = ["@lares/sdk", "@lares/sdk/testing"].map((name) => import.meta.resolve(name));
await Promise.all(found.map((url) => import(url))); console.log(JSON.stringify(found));`;
  await writeFile(join(project, "look.mjs"), program);
  const { stdout, stderr } = await runNode(["look.mjs"], { cwd: project, env: place.environment });
  expect(stderr).toBe("");
  const found = (JSON.parse(stdout) as string[]).map((url) => url.replace(/.*node_modules\//, ""));
  expect(found).toEqual(["@lares/sdk/dist/index.js", "@lares/sdk/dist/testing.js"]);
});

it("npm install of both tarballs gives what runs", async () => {
  const fresh = place.path("fresh");
  await mkdir(fresh);
  await writeFile(join(fresh, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const paths = inject("tarballs").map(({ path }) => path);
  const options = ["--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts", "--loglevel=error"];
  execFileSync("npm", ["install", ...options, ...paths], {
    cwd: fresh,
    stdio: ["ignore", "pipe", "pipe"],
    shell: process.platform === "win32",
  });
  const { version } = JSON.parse(await readFile(join(repository, "kernel", "package.json"), "utf8")) as {
    version: string;
  };
  const lares = join(fresh, "node_modules", "lares", "bin", "lares.js");
  const tell = (...argv: string[]): ReturnType<typeof runNode> =>
    runNode([lares, ...argv], { cwd: fresh, env: place.environment });
  expect(await tell("--version")).toMatchObject({ code: 0, stdout: `${version}\n` });
  const doctor = await tell("doctor");
  expect(doctor.code, doctor.stdout).toBe(0);
  await cp(join(repository, "examples", "library"), join(fresh, "library"), { recursive: true });
  const run = await tell("run", "library", "--once", "--trust", "--approve", "policy");
  expect(run, run.stderr).toMatchObject({ code: 0 });
  expect(run.stdout).toMatch(/7 agents, \d+ events, 9 actions, 0 refusals\n$/);
  // On an overloaded machine a check of arguments may take longer than its limit: repeated.
  const summary = await until("the tool's answer", async () => {
    const ended = await tell("tools", "library", "call", "dev.lares.filetypes/summary", "{}");
    return ended.stderr.includes("takes too long to check") ? null : ended;
  });
  expect(summary, summary.stderr).toMatchObject({ code: 0 });
});
