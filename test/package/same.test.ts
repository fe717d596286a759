import { createHash } from "node:crypto";
import { chmod, cp, lstat, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { snapshot } from "../support/actions.ts";
import { actionIn, Bench, inState } from "../support/bench.ts";
import { executableOf, unpack } from "../support/installed.ts";
import { type Ended, runNode } from "../support/run-node.ts";
import type { Action } from "../support/types.ts";
import { until } from "../support/until.ts";
import { checkoutExecutable, makePlace, type Place, repository } from "./support/place.ts";

/** Typical installation folders. */
const awkward = "Ablage – 資料 für Zoë's 'tools'";

let place: Place;
let executable: string;
let packages: string;
let asInstalled: Record<string, string>;
beforeAll(async () => {
  place = await makePlace();
  const installed = unpack(place.path(awkward), inject("tarballs"), ["vitest"]);
  packages = installed.lares;
  executable = executableOf(installed);
  for (const folder of Object.values(installed)) await changeModes(folder, 0o555, 0o444);
  asInstalled = await fingerprint(packages);
});
afterAll(async () => {
  await changeModes(place.path(awkward), 0o755, 0o644);
  await place[Symbol.asyncDispose]();
});

/** Returns every file with what a write would change, including its time. */
async function fingerprint(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of await readdir(folder, { recursive: true })) {
    const path = join(folder, name);
    const about = await lstat(path);
    const content = about.isFile()
      ? createHash("sha256")
          .update(await readFile(path))
          .digest("hex")
      : "";
    found[name] = `${about.mode} ${about.mtimeMs} ${about.ctimeMs} ${content}`;
  }
  return found;
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

async function changeModes(folder: string, forFolders: number, forFiles: number): Promise<void> {
  if (forFolders & 0o200) await chmod(folder, forFolders);
  for (const item of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, item.name);
    if (item.isDirectory()) await changeModes(path, forFolders, forFiles);
    else if (item.isFile()) await chmod(path, forFiles);
  }
  await chmod(folder, forFolders);
}

interface Side {
  readonly name: "checkout" | "installed";
  readonly executable: string;
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** A home and a folder for each, at paths of the same length, so that lines break at the same places. */
async function side(name: Side["name"], test: string): Promise<Side> {
  const base = place.path(`${test}-${name.slice(0, 8)}-`);
  const home = join(base, "home");
  await mkdir(home, { recursive: true });
  // A project with Vitest installed, like that of an extension's author.
  const folder = join(base, "project");
  await mkdir(join(folder, "node_modules"), { recursive: true });
  await symlink(
    join(repository, "node_modules", "vitest"),
    join(folder, "node_modules", "vitest"),
    "junction",
  );
  return {
    name,
    executable: name === "checkout" ? checkoutExecutable : executable,
    folder,
    environment: { ...place.environment, HOME: home, USERPROFILE: home },
  };
}

function lares(one: Side, argv: readonly string[]): Promise<Ended> {
  return runNode([one.executable, ...argv], { cwd: one.folder, env: one.environment });
}

/** Removes what differs from run to run: places, times, durations, and order of completion. */
function normalised({ code, stdout, stderr }: Ended, one: Side): unknown {
  const plain = (text: string): string[] =>
    text
      .replaceAll(dirname(one.folder), "<base>")
      .replaceAll(join(dirname(dirname(one.executable)), "dist", "resources", "manifests"), "<manifests>")
      .replaceAll(join(repository, "manifests"), "<manifests>")
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{22}/g, "<id>")
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
      .replace(/\d\d:\d\d:\d\d(\.\d+)?/g, "<time>")
      .replace(/\b\d+(\.\d+)? ?(ms|s)\b/g, "<duration>")
      .replace(/\(tests \d.*\)/g, "")
      .split("\n")
      .map((line) => line.trimEnd());
  return { code, stdout: plain(stdout), stderr: plain(stderr) };
}

async function both(test: string, tell: (one: Side) => Promise<unknown>): Promise<unknown> {
  const sides = await Promise.all([side("checkout", test), side("installed", test)]);
  const [checkout, installed] = await Promise.all(sides.map(tell));
  expect(installed).toEqual(checkout);
  return installed;
}

describe("the installed package answers as the checkout does, from a read-only folder at an awkward path", () => {
  it.each([
    [["--version"]],
    [["--help"]],
    [["run", "--help"]],
    [["frobnicate"]],
    [["run", "nowhere"]],
    [["check", "broken"]],
    [["check", "--explain", "library"]],
    [["new", "Bad Name"]],
    [["new", "thing", "--template", "assemblyscript"]],
    [["new", "thing", "--template", "cobol"]],
    [["test", "library"]],
  ])("lares %j", async (argv) => {
    await both(`words-${argv.join("-").replace(/\W+/g, "")}`, async (one) => {
      await cp(join(repository, "examples", "library"), join(one.folder, "library"), { recursive: true });
      await mkdir(join(one.folder, "broken"));
      await writeFile(
        join(one.folder, "broken", "lares.yaml"),
        "version: 1\nextentions: []\nkernel: { linger: soon }\n",
      );
      const ended = await lares(one, argv);
      expect(`${ended.stdout}${ended.stderr}`).not.toBe("");
      return normalised(ended, one);
    });
  });

  it("lares new demo, check, test: written, sound, and its tests pass", async () => {
    const told = await both("new", async (one) => {
      const results = [];
      for (const argv of [
        ["new", "demo"],
        ["check", "demo"],
        ["test", "demo"],
      ]) {
        const ended = await lares(one, argv);
        expect(ended, `${one.name} lares ${argv.join(" ")}`).toMatchObject({ code: 0 });
        // Vitest's own wording is not compared.
        const stdout = argv[0] === "test" ? ended.stdout.split("\n").slice(0, 2).join("\n") : ended.stdout;
        results.push(normalised({ ...ended, stdout }, one));
      }
      return { results, files: Object.keys(await snapshot(join(one.folder, "demo"))) };
    });
    expect(told).toMatchObject({ files: expect.arrayContaining(["agent.ts", "extension.yaml"]) as string[] });
  });

  it("lares test of an extension that uses mockContext and runInKernel: what was built runs, sources do not", async () => {
    await both("test", async (one) => {
      const folder = join(one.folder, "demo");
      expect(await lares(one, ["new", "demo"])).toMatchObject({ code: 0 });
      await mkdir(join(one.folder, "notes"));
      await writeFile(join(one.folder, "notes", "milk.md"), "milk\n");
      await cp(new URL("support/agent.test.ts.txt", import.meta.url), join(folder, "agent.test.ts"));
      const ended = await lares(one, ["test", "demo"]);
      expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
      return ended.stdout.split("\n").slice(0, 2);
    });
  });

  it("lares run --once --trust over the example: the same proposals, the same files afterwards", async () => {
    const told = await both("run", async (one) => {
      const library = join(one.folder, "library");
      await cp(join(repository, "examples", "library"), library, {
        recursive: true,
        preserveTimestamps: true,
      });
      const run = await lares(one, [
        "run",
        "library",
        "--in-place",
        "--once",
        "--trust",
        "--approve",
        "policy",
      ]);
      expect(run, run.stderr).toMatchObject({ code: 0 });
      const list = await lares(one, ["actions", "library", "list", "--json"]);
      expect(list, list.stderr).toMatchObject({ code: 0 });
      const all = JSON.parse(list.stdout) as Action[];
      // Storage archives a copy of a photo, before or after Photos has noted its time and place.
      const archived = new Set(all.flatMap(({ effects }) => effects.map(({ from }) => from)));
      const isNote = (title: string): boolean => title.startsWith("Note time and place of ");
      const actions = all
        .map(({ agent, title, reason, state, impact_score, effects }) => ({
          agent,
          title: isNote(title) ? title.replace(/\d+/, "some") : title,
          reason,
          state,
          ...(isNote(title) ? {} : { impact_score }),
          effects: effects
            .filter(({ path }) => !isNote(title) || !archived.has(path))
            .map(({ kind, path, before, after, from }) => ({ kind, path, before, after, from })),
        }))
        .toSorted((a, b) => a.title.localeCompare(b.title));
      const verify = await lares(one, ["memory", "library", "verify"]);
      expect(verify.code, verify.stdout + verify.stderr).toBe(0);
      return {
        actions,
        stderr: normalised({ ...run, stdout: "" }, one),
        files: Object.entries(await snapshot(library)).map(([path, state]) => [path, hashOf(state)]),
      };
    });
    expect(told).toMatchObject({
      actions: expect.arrayContaining([
        expect.objectContaining({ state: "Committed" }),
        expect.objectContaining({ state: "PendingApproval" }),
      ]) as unknown[],
    });
  });

  it("lares doctor finds the sandbox, in both", async () => {
    for (const name of ["checkout", "installed"] as const) {
      const one = await side(name, "doctor");
      const { code, stdout } = await lares(one, ["doctor"]);
      expect(code, stdout).toBe(0);
    }
  });
});

it("serve --stdio answers, a hook runs, its proposal is approved and undone", async () => {
  const program = `import { defineAgent } from "@lares/sdk";
export default defineAgent({ hooks: { async noted({ entry }, ctx) {
  await ctx.actions.propose([{ kind: "file.write", path: entry.path, content: "from the agent" }], { title: "Write", reason: "Because." });
} } });`;
  await using bench = await Bench.create({
    files: { "notes/a.md": "from a person" },
    extensions: [
      {
        id: "test.noting",
        program,
        manifest: {
          permissions: { read_entries: true, propose_actions: ["file.write"] },
          hooks: [{ on: "EntryCreated", filter: 'entry.name == "a.md"', handler: "noted" }],
        },
      },
    ],
    lares: { approvals: { auto_approve_below: 0 } },
  });
  const client = await bench.open({ executable, environment: place.environment });
  await inState(client, "test.noting", "Active");
  const [proposal] = await until("a proposal", async () => {
    const actions = await client.request<Action[]>("lares/actions/list");
    return actions.length > 0 && actions;
  });
  if (proposal === undefined) throw new Error("unreachable");
  await client.request("lares/actions/approve", { id: proposal.id, digest: proposal.digest });
  await actionIn(client, proposal.id, "Committed");
  expect(await readFile(bench.path("notes/a.md"), "utf8")).toBe("from the agent");
  await client.request("lares/actions/undo", { id: proposal.id });
  await actionIn(client, proposal.id, "Undone");
  expect(await readFile(bench.path("notes/a.md"), "utf8")).toBe("from a person");
  expect(await client.shutdown()).toMatchObject({ code: 0 });
  expect(client.fault).toBeUndefined();
});

it("after all of this nothing in the installed package was written, and compiled code lies in the home", async () => {
  expect(await fingerprint(packages)).toEqual(asInstalled);
  await rm(place.path("once-more"), { recursive: true, force: true });
  const one = await side("installed", "once-more");
  await lares(one, ["--version"]);
  const home = one.environment["HOME"] ?? "";
  const written = (await readdir(home, { recursive: true, withFileTypes: true }))
    .filter((item) => item.isFile())
    .map(({ parentPath, name }) => relative(home, join(parentPath, name)).replaceAll("\\", "/"));
  expect(written.filter((path) => !path.startsWith(".cache/lares/compiled/"))).toEqual([]);
  expect(written).not.toEqual([]);
});
