import { mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { hasTerminals, TerminalRun, type TerminalPlace } from "../support/command-line.ts";
import { runNode } from "../support/run-node.ts";
import { until } from "../support/until.ts";
import { isInstalled, NOTE, Setting, TALK, TALKED, WITH_HEADING, WITHOUT_HEADING } from "./setting.ts";

const checkout = fileURLToPath(new URL("../..", import.meta.url));
const escape = "\u001B";

/** Helix on a screen, as a person has it who set it up by the README and trusts the folder. */
async function opened(
  file: string,
  options: { readonly canTalk?: boolean } = {},
): Promise<{
  readonly setting: Setting;
  readonly run: TerminalRun;
}> {
  const setting = await Setting.create(options);
  onTestFinished(() => setting[Symbol.asyncDispose]());
  await writeFile(setting.path(NOTE), WITHOUT_HEADING);
  await writeFile(setting.path(TALK), "");
  await setting.install("helix/languages.toml", ".config/helix/languages.toml");
  const place: TerminalPlace = {
    base: setting.base,
    root: setting.workspace,
    home: join(setting.base, "state"),
  };
  await mkdir(place.home, { recursive: true });
  const environment = {
    PATH: [join(checkout, "node_modules/.bin"), process.env["PATH"]].join(delimiter),
    HOME: setting.home,
    LARES_HOME: place.home,
  };
  const agent = options.canTalk === true ? "test.mind" : "dev.lares.notes";
  const granted = await runNode(
    [join(checkout, "kernel/bin/lares.js"), "permissions", setting.workspace, "--grant", agent],
    { cwd: setting.workspace, env: { ...process.env, ...environment } },
  );
  expect(granted.code, granted.stderr).toBe(0);
  const run = new TerminalRun(place, [file], { program: "hx", environment, columns: 140, rows: 40 });
  onTestFinished(() => run[Symbol.dispose]());
  await run.sees(/ NOR /);
  return { setting, run };
}

/** Leaves the mode of insertion. A key that follows at once would be another one, with Alt. */
async function leave(run: TerminalRun): Promise<void> {
  if (/ INS /.test(run.screen)) run.type(escape);
  await run.sees(/ NOR /);
}

async function command(run: TerminalRun, name: string): Promise<void> {
  await leave(run);
  run.type(`:${name}\r`);
}

/** Types below the text, and writes the file. The editor reports nothing in between: it has to have taken each step. */
async function write(run: TerminalRun, text: string): Promise<void> {
  await leave(run);
  run.type("geo");
  await run.sees(/ INS /);
  run.type(text);
  await run.sees(RegExp(`\\d  ${text} *$`, "m"));
  await command(run, "write");
}

/** Opens the menu of code actions until it offers one, and chooses it. */
async function choose(run: TerminalRun, title: RegExp): Promise<void> {
  let presses = 0;
  // Every other key closes what the one before opened.
  await run.pressUntil(
    () => (presses++ % 2 === 0 ? " a" : escape),
    `${title} in the menu`,
    () => title.test(run.screen),
  );
  const offered = run.screen.split("\n").filter((line) => line.includes("Lares: "));
  const place = offered.findIndex((line) => title.test(line));
  // Tab marks the first, then the next.
  run.type("\t".repeat(place + 1));
  run.type("\r");
}

describe.runIf(hasTerminals && isInstalled("hx", ["--version"], "hx"))(
  "Helix, set up as examples/editors/helix says",
  () => {
    test("from a waiting change to an approved one by code action, and back", async () => {
      const { setting, run } = await opened(NOTE);
      await run.sees(/milk/);
      await choose(run, /Lares: approve: Overwrites/);
      await until("the heading in the file", async () => (await setting.text(NOTE)) === WITH_HEADING);
      await command(run, "reload-all");
      await run.sees(/# Shopping list/);
      await choose(run, /Lares: undo/);
      await until("the file without it", async () => (await setting.text(NOTE)) === WITHOUT_HEADING);
      await command(run, "quit!");
      expect(await run.ended).toBe(0);
    });

    test("a conversation in a file: a message is sent by code action, and what is typed while it is answered stays", async () => {
      const { setting, run } = await opened(TALK, { canTalk: true });
      await choose(run, /Lares: new message below/);
      await run.sees(/## You/);
      await write(run, "hello");
      await choose(run, /Lares: send to Steward/);
      await run.sees(/- one[^]*## You/);
      await write(run, "soon");
      await choose(run, /Lares: send to Steward/);
      await write(run, "and then");
      await run.sees(/Here it is[^]*## You/);
      await command(run, "write");
      await until("the whole conversation", async () => (await setting.text(TALK)).trimEnd() === TALKED);
      await command(run, "quit!");
      expect(await run.ended).toBe(0);
    });
  },
);
