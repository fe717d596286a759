import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pick, propose } from "../support/actions.ts";
import { probe } from "../support/agents.ts";
import { Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { hasTerminals, lares, TerminalRun, type TerminalOptions } from "../support/command-line.ts";
import { until } from "../support/until.ts";

const PROBE = "test.probe";
const EXECUTABLE = fileURLToPath(new URL("../../kernel/bin/lares.js", import.meta.url));
const SCRIPT = `
turns:
  - { process: channel, when: hello, say: "Grüße – ✓", repeat: true }
`;
/** Codes that move the cursor or erase; colours are not among them. */
const moves = /\u001b(?!\[[\d;]*m)/;

let bench: Bench;
let client: Client;
let folder = "";
let script = "";
beforeAll(async () => {
  bench = await Bench.create({ extensions: [probe({ id: PROBE })], files: { "notes/a.md": "one\n" } });
  client = await bench.open();
  folder = join(bench.base, "letters");
  await mkdir(folder);
  script = join(bench.base, "script.yaml");
  await writeFile(script, SCRIPT);
});
afterAll(() => bench[Symbol.asyncDispose]());

const write = (path: string, content: string) =>
  propose(client, PROBE, { kind: "file.write", path, content });

/** Runs `lares …` in a shell, which redirects it. */
function inShell(line: string): { readonly code: number | null; readonly stderr: string } {
  const { status, stderr } = spawnSync(
    "sh",
    ["-c", line.replaceAll("lares ", `'${process.execPath}' '${EXECUTABLE}' `)],
    {
      cwd: bench.root,
      encoding: "utf8",
      env: { ...process.env, LARES_HOME: bench.home, NO_COLOR: "1" },
    },
  );
  return { code: status, stderr };
}

describe("an output that cannot be written", () => {
  test
    .runIf(existsSync("/dev/full"))
    .each(["--help", "actions", "agents --json", "tools", "decisions", "run --once", "memory stats"])(
    "a full disk ends lares %s with a sentence",
    (command) => {
      const { code, stderr } = inShell(`lares ${command} > /dev/full`);
      expect(stderr).toMatch(
        /error: The output could not be written \(ENOSPC\)\. There is no space left[^\n]*\n$/,
      );
      expect(stderr).not.toMatch(/\n\s+at |node:internal/);
      expect(code).toBe(1);
    },
  );

  test.runIf(existsSync("/dev/full"))("remarks that cannot be written end nothing", () => {
    expect(inShell("lares agents 2> /dev/full > /dev/null").code).toBe(0);
    expect(inShell("lares frobnicate 2> /dev/full").code).toBe(2);
  });

  test.each(["--help", "agents --json", "traces --json"])(
    "a reader that leaves ends lares %s silently",
    (command) => {
      expect(inShell(`lares ${command} | true`)).toEqual({ code: 0, stderr: "" });
    },
  );
});

describe.runIf(hasTerminals)("a terminal without a cursor", () => {
  const dumb: TerminalOptions = { environment: { TERM: "dumb" } };

  test("lares review asks by lines, with the keys of cards", async () => {
    const one = await write("notes/one.md", "1\n");
    const two = await write("notes/two.md", "2\n");
    using run = new TerminalRun(bench, ["review"], dumb);
    await run.shows(/2 changes wait for you[^]*a +approve[^]*Esc +later[^]*Write one of/);
    run.type("what\n");
    await run.shows(/Write one of[^]*Write one of/);
    run.type("a\n");
    await run.shows(/two\.md[^]*Write one of/);
    run.type("reject\n");
    await run.shows(/Why not\?/);
    run.type("\n");
    expect(await run.ended).toBe(0);
    expect([(await pick(client, one)).state, (await pick(client, two)).state]).toEqual([
      "Committed",
      "Rejected",
    ]);
    expect(run.shown).not.toMatch(moves);
  });

  test("lares chat asks for consent and talks by lines", async () => {
    using run = new TerminalRun(bench, ["chat", "--folder", folder, "--rehearse", script], dumb);
    await run.shows(/Use it in this folder\? \[a allow, r reject\]/);
    run.type("a\n");
    await run.shows(/Each line is a message/);
    run.type("hello\n");
    await run.shows(/Grüße – ✓/);
    run.type("\u0004");
    expect(await run.ended).toBe(0);
    expect(run.shown).not.toMatch(moves);
  });
});

describe.runIf(hasTerminals)("a terminal without UTF-8", () => {
  const ascii = { LC_ALL: "C", LANG: "C" };

  test("what is printed is ASCII, the chat too", async () => {
    for (const args of [["agents"], ["actions"], ["--help"], ["tools", "--json"]]) {
      using run = new TerminalRun(bench, args, { environment: ascii });
      expect(await run.ended).toBe(0);
      expect(run.shown).toMatch(/^[\x00-\x7f]+$/); // oxlint-disable-line no-control-regex -- the bounds of ASCII
    }
    using run = new TerminalRun(bench, ["chat", "--folder", folder, "--rehearse", script], {
      environment: ascii,
    });
    await run.sees(/Write a message/);
    run.type("hello\r");
    await run.sees(/Gr<U\+00FC><U\+00DF>e|Gr\?\?e/);
    run.type("\u0004");
    await run.ended;
    expect(run.shown).toMatch(/^[\x00-\x7f]+$/); // oxlint-disable-line no-control-regex -- the bounds of ASCII
  });
});

describe.runIf(hasTerminals)("widths", () => {
  test.each([40, 300])(
    "nothing is wider than %i columns, and no line is broken by the terminal",
    async (columns) => {
      await write(`notes/${"long ".repeat(12)}${columns}.md`, "x\n");
      for (const args of [["actions"], ["conversations", folder], ["--help"]]) {
        using run = new TerminalRun(bench, args, { columns, rows: 200 });
        expect(await run.ended).toBe(0);
        const lines = run.shown.split(/\r*\n/).map((line) => line.replace(/^.*\u001b\[2K/s, ""));
        const wide = lines.filter((line) => line.length > Math.min(columns, 160));
        expect([args, wide]).toEqual([args, []]);
      }
    },
  );
});

test("a kernel that was stopped is said to be silent, with what can be done", async () => {
  const { pid } = await bench.ready(client);
  process.kill(pid, "SIGSTOP");
  const asked = lares(bench, ["agents"]);
  const { stderr, code } = await asked;
  process.kill(pid, "SIGCONT");
  expect(stderr).toMatch(RegExp(`The kernel of \\S+ \\(process ${pid}\\) does not answer[^]*lares stop`));
  expect(code).toBe(1);
});

test.runIf(hasTerminals)("a chat says that its kernel is silent, and that it answers again", async () => {
  using run = new TerminalRun(bench, ["chat", "--folder", folder, "--rehearse", script]);
  await run.sees(/Write a message/);
  const { stdout } = await lares(bench, ["conversations", folder, "--json"]);
  expect(stdout).toContain("{");
  const pid = Number(
    spawnSync("pgrep", ["-f", `kernel --state=${join(bench.home, "workspaces")}/letters-`], {
      encoding: "utf8",
    }).stdout.split("\n")[0],
  );
  process.kill(pid, "SIGSTOP");
  await run.sees(/does not answer/);
  process.kill(pid, "SIGCONT");
  await run.sees(/answers again/);
  run.type("\u0004");
  expect(await run.ended).toBe(0);
});

describe("a folder that was renamed", () => {
  test("is said to have a state from before; lares adopt brings it over, and asks again what was allowed", async () => {
    await using own = await Bench.create({
      extensions: [probe({ id: PROBE })],
      files: { "notes/a.md": "one\n" },
    });
    const at = await own.open();
    const action = await propose(at, PROBE, { kind: "file.write", path: "notes/b.md", content: "b\n" });
    await at.shutdown();
    await lares(own, ["stop"]);
    const renamed = join(own.base, "renamed");
    await rename(own.root, renamed);
    await mkdir(own.root);
    // The bench's own path exists again, which hides nothing: it is another folder, but it could be in use.
    const inThere = (...args: string[]) => lares({ root: renamed, home: own.home }, args);
    expect((await inThere("adopt", "--yes")).code).toBe(1);
    await rename(own.root, `${own.root}-gone`);
    const before = await inThere("actions", "--json");
    expect(before.stderr).toMatch(/was \S+workspace when it was last used[^]*lares adopt/);
    expect(before.stdout).not.toContain(action.id);
    expect((await inThere("adopt")).stderr).toContain("--yes");
    expect(await inThere("adopt", "--yes")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("belongs to this folder now"),
    });
    const after = await inThere("actions", "--json");
    expect(after.stdout).not.toContain(action.id);
    expect(after.stderr).toContain("not trusted");
    await inThere("run", "--trust", "--once");
    expect((await inThere("actions", "--json")).stdout).toContain(action.id);
    expect((await inThere("adopt", "--yes")).code).toBe(1);
    await inThere("stop");
  });
});

test("what an agent chooses as a new name is refused early if it would look like another", async () => {
  await expect(write("notes/\u202egnp.md", "x\n")).rejects.toThrow(/invisible, or that reorder/);
  await until("the kernel", async () => (await bench.status(client)).ready);
});
