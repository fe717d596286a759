import { readdirSync } from "node:fs";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { probe } from "../support/agents.ts";
import { pick, propose, type EffectInput } from "../support/actions.ts";
import { actionIn, Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { hasTerminals, lares, TerminalRun, type TerminalOptions } from "../support/command-line.ts";
import { isAlive, until } from "../support/until.ts";

const PROBE = "test.probe";
const ctrlC = "\u0003";
const ctrlZ = "\u001a";
const enterFullScreen = "\u001b[?1049h";
const leaveFullScreen = "\u001b[?1049l";
const longText = Array.from({ length: 120 }, (_none, line) => `line ${line}\n`).join("");

let bench: Bench;
let client: Client;
const fresh = async (): Promise<void> => {
  bench = await Bench.create({ extensions: [probe({ id: PROBE })], files: { "notes/a.md": "one\n" } });
  client = await bench.open();
};
beforeAll(fresh);
afterAll(() => bench[Symbol.asyncDispose]());

const write = (path: string, content: string): EffectInput => ({ kind: "file.write", path, content });

async function open(options?: TerminalOptions): Promise<TerminalRun> {
  const run = new TerminalRun(bench, ["review"], options);
  await run.sees(/Waiting for you/);
  return run;
}

/** Ends a review by its key and checks that the terminal is as before. */
async function leave(run: TerminalRun): Promise<void> {
  run.type("q");
  expect(await run.ended).toBe(0);
  expectRestored(run);
}

function expectRestored(run: TerminalRun): void {
  expect(run.isFullScreen).toBe(false);
  for (const code of ["\u001b[?25h", "\u001b[?2004l", "\u001b[?7h"])
    expect(run.shown.lastIndexOf(code)).toBeGreaterThan(run.shown.lastIndexOf(enterFullScreen));
}

async function withdraw(...ids: string[]): Promise<void> {
  for (const id of ids) await client.request("lares/actions/reject", { id });
}

describe.runIf(hasTerminals)("lares review", () => {
  test("one change is approved and undone by keys, and one is rejected with a reason", async () => {
    const first = await propose(client, PROBE, write("notes/first.md", "hello\n"));
    using run = await open();
    await run.sees(/first\.md/);
    await run.sees(/1 \+ hello/);
    await run.pressUntil("a", "first.md", async () => (await pick(client, first)).state === "Committed");
    expect(await readFile(bench.path("notes/first.md"), "utf8")).toBe("hello\n");
    await run.sees(/Approved: notes\/first\.md\. u undoes it\./);
    run.type("u");
    await actionIn(client, first.id, "Undone");

    const second = await propose(client, PROBE, write("notes/second.md", "no\n"));
    await run.sees(/1 waits for you/);
    run.type("\u001b[H"); // the waiting section, wherever the focus was
    run.type("j");
    await run.sees(/▌\[ \] second\.md/);
    run.type("r");
    await run.sees(/Why not\? test\.probe receives this\./);
    run.type("aaa is not a reason\r");
    await actionIn(client, second.id, "Rejected");
    expect(await pick(client, second)).toMatchObject({ state: "Rejected" });
    await leave(run);
  });

  test("several are approved together after all their effects were named, and never a deletion", async () => {
    const one = await propose(client, PROBE, write("notes/one.md", "1\n"));
    const two = await propose(client, PROBE, write("notes/two.md", "2\n"));
    const gone = await propose(client, PROBE, { kind: "file.delete", path: "notes/a.md" });
    using run = await open();
    await run.sees(/▌ ! {2}a\.md/);
    run.type(" ");
    await run.sees(/notes\/a\.md must be decided alone/);
    run.type("j");
    await run.sees(/▌\[ \] two\.md/);
    run.type(" ");
    await run.sees(/▌\[x\] two\.md/);
    run.type("j");
    run.type(" ");
    await run.sees(/▌\[x\] one\.md/);
    run.type("A");
    await run.sees(/Approve these 2\?/);
    await run.sees(/Creates "notes\/two\.md"/);
    run.type("y");
    await actionIn(client, one.id, "Committed");
    await actionIn(client, two.id, "Committed");
    expect((await pick(client, gone)).state).toBe("PendingApproval");
    await leave(run);
    await withdraw(gone.id);
  });

  test("a change that was not fully on the screen is shown before it is approved", async () => {
    const long = await propose(client, PROBE, write("notes/long.md", longText));
    using run = await open({ columns: 100, rows: 30 });
    await run.sees(/line 0/);
    run.type("a");
    await run.sees(/more lines after this\. a continues\./);
    expect((await pick(client, long)).state).toBe("PendingApproval");
    await run.pressUntil("a", "approval", async () => (await pick(client, long)).state === "Committed");
    expect(run.shown).toContain("line 119");
    await leave(run);
  });

  test("pasted text decides nothing", async () => {
    const { id } = await propose(client, PROBE, write("notes/pasted.md", "x\n"));
    using run = await open();
    await run.sees(/1 \+ x/);
    run.type("\u001b[200~aaaayA\r\u001b[201~");
    await run.sees(/Pasted text is ignored here\./);
    expect((await pick(client, { id } as never)).state).toBe("PendingApproval");
    await leave(run);
    await withdraw(id);
  });

  test("only one part is approved when the other is left out", async () => {
    const before = Array.from({ length: 30 }, (_none, line) => `line ${line}\n`).join("");
    await bench.write("notes/parts.md", before);
    const edit = {
      kind: "file.edit",
      path: "notes/parts.md",
      edits: [
        { find: "line 2\n", replace: "LINE 2\n" },
        { find: "line 25\n", replace: "LINE 25\n" },
      ],
    };
    const { id } = await propose(client, PROBE, edit);
    using run = await open();
    await run.sees(/▌\[x\] Part 1 of 2/);
    run.type("n");
    await run.sees(/\[ \] Part 1 of 2, left out/);
    await run.sees(/a approve 1 of 2 parts/);
    await run.pressUntil(
      "a",
      "approval",
      async () => (await pick(client, { id } as never)).state === "Committed",
    );
    expect(await readFile(bench.path("notes/parts.md"), "utf8")).toBe(
      before.replace("line 25\n", "LINE 25\n"),
    );
    await leave(run);
  });

  test("a text is edited in the person's editor and approved; its temporary file was private and is removed", async () => {
    const editor = join(bench.base, "editor.sh");
    const seen = join(bench.base, "seen");
    await writeFile(
      editor,
      `#!/bin/sh\nstat -c '%a' "$2" "$(dirname "$2")" > '${seen}'\necho "$2" >> '${seen}'\nprintf 'mine\\n' > "$2"\n`,
    );
    await chmod(editor, 0o700);
    const { id } = await propose(client, PROBE, write("notes/edited $(touch x).md", "theirs\n"));
    using run = await open({ environment: { VISUAL: `${editor} -w`, EDITOR: "false" } });
    await run.sees(/1 \+ theirs/);
    run.type("e");
    await run.sees(/This is your text now/);
    await run.sees(/1 \+ mine/);
    await run.pressUntil(
      "a",
      "approval",
      async () => (await pick(client, { id } as never)).state === "Committed",
    );
    expect(await readFile(bench.path("notes/edited $(touch x).md"), "utf8")).toBe("mine\n");
    const [file, folder, path = ""] = (await readFile(seen, "utf8")).trim().split("\n");
    expect([file, folder]).toEqual(["600", "700"]);
    expect(path).toMatch(/\/proposed\.md$/);
    expect(readdirSync(tmpdir())).not.toContain(path.split("/").at(-2));
    await leave(run);
  });

  test("a change that is decided elsewhere stays selected, and its keys do nothing", async () => {
    const { id } = await propose(client, PROBE, write("notes/elsewhere.md", "x\n"));
    using run = await open();
    await run.sees(/▌\[ \] elsewhere\.md/);
    await run.sees(/1 \+ x/);
    await bench.write("notes/elsewhere.md", "somebody was first\n");
    const { digest } = await pick(client, { id } as never);
    await client.request("lares/actions/approve", { id, digest }).catch(() => undefined);
    await run.sees(/Out of date · \d+/);
    run.type("a");
    await run.sees(/does not wait for an answer|is out of date/);
    expect(await readFile(bench.path("notes/elsewhere.md"), "utf8")).toBe("somebody was first\n");
    await leave(run);
  });

  test("the screen follows the window, and has one column below 80", async () => {
    const { id } = await propose(client, PROBE, write("notes/size.md", "content\n"));
    using run = await open({ columns: 100, rows: 30 });
    await run.sees(/│/);
    run.resize(40, 20);
    await until("one column", () => !run.screen.includes("│"));
    await run.sees(/size\.md/);
    for (const line of run.screen.split("\n")) expect(line.length).toBeLessThanOrEqual(40);
    run.type("\r");
    await run.sees(/In the agent's words:/);
    run.resize(120, 40);
    await run.sees(/┌─ lares review/);
    run.type("\u001b");
    await run.sees(/Waiting for you/);
    await leave(run);
    await withdraw(id);
  });

  test.each([
    ["Ctrl-C", (run: TerminalRun) => run.type(ctrlC), 0],
    ["SIGTERM", (run: TerminalRun) => process.kill(run.process.pid, "SIGTERM"), 143],
    ["SIGHUP", (run: TerminalRun) => process.kill(run.process.pid, "SIGHUP"), 129],
  ])("%s gives the terminal back", async (_name, end, code) => {
    using run = await open();
    end(run);
    expect(await run.ended).toBe(code);
    expectRestored(run);
  });

  test("it can be stopped and continues where it was", async () => {
    const { id } = await propose(client, PROBE, write("notes/stopped.md", "x\n"));
    using run = await open();
    await run.sees(/stopped\.md/);
    run.type(ctrlZ);
    // `script` stops with it, perhaps before it has passed on the last output, so the screen proves nothing now.
    await until("it stands still", () => run.isStopped);
    expect(run.settings).toMatch(/ icanon/);
    await until("it goes on where it was", () => {
      run.resume();
      const leftAt = run.shown.lastIndexOf(leaveFullScreen);
      return leftAt !== -1 && run.shown.indexOf(enterFullScreen, leftAt) !== -1;
    });
    await run.sees(/stopped\.md/);
    await leave(run);
    await withdraw(id);
  });

  test("without a terminal it says what to use instead, and exits with 2", async () => {
    const { code, stdout, stderr } = await lares(bench, ["review"]);
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toContain("lares actions list");
  });

  test("a terminal without UTF-8 and colours gets ASCII, and a stranger's name by its codes", async () => {
    const { id } = await propose(client, PROBE, write("notes/caf\u00e9 \u{1F600}.md", "d\u00e9j\u00e0\n"));
    using run = await open({ environment: { LC_ALL: "C", LANG: "C" } });
    await run.sees(/caf<U\+00E9> <U\+1F600>\.md/);
    await run.sees(/d<U\+00E9>j<U\+00E0>/);
    expect(run.screen).toMatch(/^[\x20-\x7e\n]*$/); // oxlint-disable-line no-control-regex -- the range of what is printed
    await leave(run);
    await withdraw(id);
  });

  test("if its kernel is killed, it restores the terminal and reports the state", async () => {
    const { id } = await propose(client, PROBE, write("notes/kept.md", "x\n"));
    using run = await open();
    await run.sees(/kept\.md/);
    const { pid } = await bench.status(client);
    await bench.kill(pid);
    expect(await run.ended).toBe(1);
    expectRestored(run);
    expect(run.screen).toMatch(/The connection to the kernel was lost/);
    expect(run.screen).toMatch(/Undecided proposals still wait/);
    expect(isAlive(run.process.pid)).toBe(false);
    await bench.ready(client);
    await actionIn(client, id, "PendingApproval");
  });
});
