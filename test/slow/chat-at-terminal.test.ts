import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Bench } from "../support/bench.ts";
import { hasTerminals, lares, TerminalRun, type TerminalOptions } from "../support/command-line.ts";
import { PATIENCE_MS, until } from "../support/until.ts";

/** The shortest interval of a schedule and what a busy machine may add, in milliseconds. */
const nextRunMs = 60_000 + PATIENCE_MS;

const SCRIPT = `
context_tokens: 8000
turns:
  - { process: channel, when: hello, think: "A greeting.", say: "Hi **there**, see [this](https://example.org/a).", repeat: true }
  - { process: channel, when: read it, say: "Let me see.", call: [{ tool: files/read, arguments: { path: a.md } }] }
  - { process: channel, when: "the text of a", say: "It says: the text of a" }
  - { process: channel, when: delegate, call: [{ tool: spawn_worker, arguments: { task: "write a file", kind: editor } }] }
  - { process: channel, when: process, say: "A worker writes." }
  - { process: worker, when: write a file, call: [{ tool: files/write, arguments: { path: b.md, content: "new\\n", reason: "asked" } }] }
  - { process: worker, when: Committed, say: "I wrote it." }
  - { process: channel, when: I wrote it, say: "The worker wrote it." }
  - { process: channel, when: wait, say: "This took a while.", delay_ms: 2000, repeat: true }
  - { process: channel, when: remind me, call: [{ tool: schedule, arguments: { op: add, prompt: "What is new?", cron: "* * * * *", timezone: UTC } }] }
  - { process: channel, when: waits for the person, say: "It waits for you." }
  - { process: channel, when: What is new, say: "Nothing is new.", repeat: true }
  - { process: channel, when: for ever, say: "Never.", delay_ms: 600000, repeat: true }
`;

describe.skipIf(!hasTerminals)("lares chat at a terminal", () => {
  let bench: Bench;
  let folder = "";
  let script = "";

  beforeAll(async () => {
    bench = await Bench.create();
    folder = join(bench.base, "notes");
    await mkdir(folder);
    await writeFile(join(folder, "a.md"), "the text of a\n");
    script = join(bench.base, "script.yaml");
    await writeFile(script, SCRIPT);
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  const start = (args: readonly string[] = [], options: TerminalOptions = {}): TerminalRun =>
    new TerminalRun(bench, ["chat", "--folder", folder, "--rehearse", script, ...args], {
      columns: 90,
      rows: 40,
      ...options,
    });
  const kernelOf = (): number =>
    Number(
      execFileSync("pgrep", ["-f", `kernel --state=${join(bench.home, "workspaces")}/notes-`], {
        encoding: "utf8",
      })
        .trim()
        .split("\n")[0],
    );

  test("asks once, and then talks, opens calls, has changes approved and undone", async () => {
    using run = start([], { after: "stty -a" });
    await run.shows(/Nothing of them leaves this machine[^]*Use it in this folder\? \[a allow, r reject\]/);
    expect(run.shown).toContain("Moving and renaming files");
    run.type("y\r");
    await run.sees(/Write to Steward/);
    expect(run.screen).toContain("rehearsal of script.yaml, no model is asked");
    expect(existsSync(join(folder, "lares.yaml"))).toBe(false);

    run.type("hello\r");
    await run.sees(/Hi there, see this \(https:\/\/example\.org\/a\)/);
    await run.sees(/▸ Thought: A greeting/);
    run.type("read it\r");
    await run.sees(/▸ files\/read a\.md {2}✓[^]*It says: the text of a/);
    run.type("delegate\r");
    await run.sees(/1 decision waits for you/);
    expect(existsSync(join(folder, "b.md"))).toBe(false);
    await run.sees(/Tab comes here, then/);
    run.type("\t");
    await run.sees(/▌ a approve/);
    run.type("a");
    await run.sees(/The worker wrote it/);
    expect(readFileSync(join(folder, "b.md"), "utf8")).toBe("new\n");
    run.type("/undo\r");
    await run.sees(/undone {2}Write b\.md/);
    expect(existsSync(join(folder, "b.md"))).toBe(false);

    run.resize(40, 20);
    await run.sees(/Enter send/);
    expect(Math.max(...run.screen.split("\n").map((line) => line.length))).toBeLessThanOrEqual(40);
    run.type("\u0004");
    expect(await run.ended).toBe(0);
    expect(run.isFullScreen).toBe(false);
    expect(run.shown).toMatch(/lares chat --folder \S+ --rehearse \S+ --resume \w{8}/);
    expect(run.shown).toMatch(/[^-]icanon[^]*[^-]echo /);
  });

  test("asks no second time, resumes the only conversation, and stops with Esc", async () => {
    using run = start(["--resume"]);
    await run.sees(/The worker wrote it/);
    run.type("for ever\r");
    await run.sees(/working/);
    run.type("\u001b");
    await run.sees(/Stopped\./);
    run.type("hello\r");
    await run.sees(/for ever[^]*Hi there/);
    // Until the turn has ended, Ctrl-C stops it.
    await until("the turn to end", () => !run.screen.includes("working"));
    run.type("\u0003");
    await run.sees(/Press Ctrl-C again to leave/);
    run.type("\u0003");
    expect(await run.ended).toBe(0);
  });

  test("keeps what is typed while it starts, sends it when it is ready, and lets no question have it", async () => {
    const unknown = join(bench.base, "unknown");
    await mkdir(unknown);
    {
      using run = new TerminalRun(bench, ["chat", "--folder", unknown, "--rehearse", script]);
      await run.pressUntil("y\r", "the question", () => run.shown.includes("Use it in this folder?"));
      run.type("y\r");
      await run.sees(/› y[^]*No turn of the script/);
      run.type("\u0004");
      expect(await run.ended).toBe(0);
    }
    using run = start(["--resume"]);
    await until("lares to read keys", () => run.settings.includes("-icanon"));
    run.type("hello again\rhalf");
    await run.sees(/› hello again[^]*Hi there[^]*› half/);
    run.type("\u0003");
    await run.sees(/Press Ctrl-C again|Stopped/);
    run.type("\u0003");
    expect(await run.ended).toBe(0);
  });

  test("leaves the terminal as it was after a crash", async () => {
    const crash = join(bench.base, "crash.mjs");
    await writeFile(
      crash,
      'if (process.argv.includes("chat")) process.on("SIGUSR2", () => { throw new Error("a crash"); });',
    );
    using run = start(["--resume"], {
      environment: { NODE_OPTIONS: `--import=${crash}` },
      after: "stty -a",
    });
    await run.sees(/Enter send/);
    expect(run.settings).toContain("-icanon");
    process.kill(run.process.pid, "SIGUSR2");
    await run.shows(/a crash/);
    expect(await run.ended).not.toBe(0);
    expect(run.isFullScreen).toBe(false);
    // The cursor is shown, pastes are not marked, and lines wrap again.
    expect(run.shown).toContain("\u001b[?25h\u001b[?2004l\u001b[?7h");
    expect(run.shown).toMatch(/[^-]icanon[^]*[^-]echo /);
  });

  test("continues after the kernel died in the middle of an answer", async () => {
    using run = start(["--resume"]);
    await run.sees(/Enter send/);
    run.type("wait\r");
    await run.sees(/working/);
    process.kill(kernelOf(), "SIGKILL");
    await run.sees(/the kernel is being started again/);
    await run.sees(/This took a while\./);
    run.type("hello\r");
    await until("another answer", () => run.screen.split("Hi there").length > 1);
    run.type("\u0004");
    expect(await run.ended).toBe(0);
  });

  test("shows the list of conversations again for another width, and returns the terminal", async () => {
    {
      using run = start([]);
      await run.sees(/Write to Steward/);
      run.type("hello, this is a title that is so long that a narrow terminal cannot show all of it\r");
      await run.sees(/No turn of the script|Hi there/);
      run.type("\u0004");
      expect(await run.ended).toBe(0);
    }
    using run = start(["--resume"]);
    await run.sees(/Which conversation\?[^]*› hello, this[^]*Enter choose/);
    run.resize(40, 20);
    await until("the narrow list", () => /^› hello, this.*…|^› hello, this.{1,38}$/m.test(run.screen));
    expect(run.screen.match(/Which conversation/g)).toHaveLength(1);
    expect(run.screen.match(/hello, this/g)).toHaveLength(1);
    expect(run.screen.trimStart()).toMatch(/^Which conversation\?/);
    run.type("\r");
    await run.sees(/Enter send/);
    run.type("\u0004");
    expect(await run.ended).toBe(0);
    expect(run.isFullScreen).toBe(false);
  });

  test("that is declined leaves nothing behind, and asks again", async () => {
    const other = join(bench.base, "other");
    await mkdir(other);
    for (const [key, code] of [
      ["n", 1],
      ["n", 1],
      ["\u0003", 130],
    ] as const) {
      using run = new TerminalRun(bench, ["chat", "--folder", other, "--rehearse", script]);
      await run.shows(/Use it in this folder\?/);
      run.type(key);
      expect(await run.ended).toBe(code);
      expect(run.shown).toContain("Nothing was allowed. Start lares chat again to be asked again.");
    }
  });

  test("in a folder whose document names no mind, offers to add the steward to it", async () => {
    const place = join(bench.base, "without a mind");
    await mkdir(place);
    await writeFile(join(place, "lares.yaml"), "version: 1 # mine\n");
    // High enough for the whole question: what was not on the screen cannot be allowed.
    using run = start(["--folder", place], { rows: 60 });
    await run.shows(/\+ +- id: dev\.lares\.steward[^]*Add it to this document\? \[a allow, r reject\]/);
    run.type("y");
    await run.sees(/What may these agents do\?[^]*a allow all/);
    run.type("a");
    await run.sees(/Write to Steward/);
    expect(readFileSync(join(place, "lares.yaml"), "utf8")).toMatch(
      /^version: 1 # mine\n[^]*dev\.lares\.steward/,
    );
    run.type("hello\r");
    await run.sees(/Hi there/);
  });

  test("that is allowed nothing once it was added, opens no conversation, and asks again", async () => {
    const place = join(bench.base, "refused");
    await mkdir(place);
    await writeFile(join(place, "lares.yaml"), "version: 1\n");
    using first = start(["--folder", place]);
    await first.shows(/Add it to this document\?/);
    first.type("y");
    await first.sees(/What may these agents do\?[^]*a allow all/);
    first.type("\r");
    expect(await first.ended).toBe(1);
    expect(first.shown).toContain("Nothing was allowed. Start lares chat again to be asked again.");
    using second = start(["--folder", place]);
    await second.sees(/What may these agents do\?/);
    second.type("\u001b");
    expect(await second.ended).toBe(1);
  });

  test("in a folder whose document has an error, names it instead of the steward", async () => {
    const place = join(bench.base, "faulty");
    await mkdir(place);
    const document =
      "version: 1\nfoo: 1\nextensions:\n  - { id: dev.lares.steward, grants: { locations: [.] } }\n";
    await writeFile(join(place, "lares.yaml"), document);
    using run = start(["--folder", place]);
    await run.shows(/"foo"[^]*its\s+documents\s+have\s+the\s+errors/);
    expect(readFileSync(join(place, "lares.yaml"), "utf8")).toBe(document);
    const agents = await lares(bench, ["agents", place]);
    expect(agents.stderr).toContain("foo");
    expect(agents.stdout).toBe("");
  });

  // At the end: what its schedule begins are further conversations of the folder.
  test("asks about a schedule in words, and shows what it answers", async () => {
    using run = start();
    await run.sees(/Write to Steward/);
    run.type("remind me\r");
    await run.sees(/begin a conversation by itself, every minute \(UTC\)\?/);
    run.type("\t");
    await run.sees(/a allow until you revoke it \(lares decisions\) {2}r deny/);
    run.type("a");
    await run.sees(/✓ The schedule was accepted\./);
    const told = /i dev\.lares\.steward {2}.*Nothing is new\./;
    await until("what the schedule answered", () => told.test(run.screen), nextRunMs);
    run.type("/fork\r");
    await run.sees(/This is a copy now\./);
    run.type("\u0004");
    expect(await run.ended).toBe(0);
  });
});
