import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { watchesFiles } from "../support/agents.ts";
import { Bench } from "../support/bench.ts";
import { hasTerminals, lares, TerminalRun } from "../support/command-line.ts";
import { until } from "../support/until.ts";

const AGENT = "test.system";
/** Its words end the code, begin another, turn the text around and break the line. */
const PROGRAM = `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  hooks: {
    async seen({ entry }, ctx) {
      await ctx.notify("4;50 \\u0007\\u001b\\\\\\u009c" + entry.path, "\\u001b]9;forged\\u0007 \\u202ea\\nb", { severity: "warning" });
    },
  },
});
`;

/** A terminal that shows notifications of the operating system. */
const terminalOfThatKind = { TERM_PROGRAM: "WezTerm", TMUX: undefined, STY: undefined };

/** A workspace, and a person whose document sends the agent's notifications to these channels. */
async function withChannels(...channels: readonly string[]) {
  const bench = await Bench.create({
    files: { "notes/one.txt": "1" },
    extensions: [watchesFiles(AGENT, PROGRAM)],
  });
  const config = join(bench.base, "config");
  await mkdir(join(config, "lares"), { recursive: true });
  await writeFile(
    join(config, "lares", "lares.yaml"),
    JSON.stringify({ notifications: { rules: [{ agents: [AGENT], channels }] } }),
  );
  return { bench, environment: { ...terminalOfThatKind, XDG_CONFIG_HOME: config } };
}

/** The codes for notifications of the operating system, each up to its end. */
// oxlint-disable-next-line no-control-regex -- control codes are what this is about
const codesIn = (shown: string): string[] => shown.match(/\u001b\]9;[^\u0007]*\u0007?/g) ?? [];

test.runIf(hasTerminals)(
  "at a terminal, each notification is one code for the operating system, in which an agent's words are plain text",
  async () => {
    const { bench, environment } = await withChannels("os");
    await using _bench = bench;
    using run = new TerminalRun(bench, ["run", "--trust"], { environment });
    // One for each file that is there: the document, and the note.
    await until("the first notifications", () => codesIn(run.shown).length > 1);
    await bench.write("notes/two.txt", "2");
    await until("the second notification", () => codesIn(run.shown).some((code) => code.includes("two.txt")));
    run.type("\u0003");
    await run.ended;
    const codes = codesIn(run.shown);
    expect(codes.map((code) => /[\w/]+\.\w+/.exec(code)?.[0])).toEqual([
      "lares.yaml",
      "notes/one.txt",
      "notes/two.txt",
    ]);
    for (const code of codes) {
      expect(code.startsWith("\u001b]9;Lares: 4;50 ")).toBe(true);
      expect(code.endsWith("\u0007")).toBe(true);
      // oxlint-disable-next-line no-control-regex -- that is what must not be in it
      expect(code.slice(4, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
    }
    // The channel is the system's alone: nothing of it is printed, and the screen has no remains of the code.
    expect(run.screen).not.toContain("forged");
  },
);

test.runIf(hasTerminals)(
  "a terminal that shows none of them, or has a multiplexer in between, gets no code",
  async () => {
    for (const other of [{ TERM_PROGRAM: "vscode" }, { TMUX: "/tmp/tmux-0/default,1,0" }]) {
      const { bench, environment } = await withChannels("os", "terminal");
      await using _bench = bench;
      using run = new TerminalRun(bench, ["run", "--trust", "--once"], {
        environment: { ...environment, ...other },
      });
      expect(await run.ended).toBe(0);
      expect(run.shown).toContain("forged");
      expect(codesIn(run.shown)).toEqual([]);
    }
  },
);

test("a pipe gets no code, in words or as JSON", async () => {
  for (const options of [[], ["--json"]]) {
    const { bench, environment } = await withChannels("os", "terminal");
    await using _bench = bench;
    const { code, stdout, stderr } = await lares(
      bench,
      ["run", "--trust", "--once", ...options],
      environment,
    );
    expect(code, stderr).toBe(0);
    expect(stdout).toContain("forged");
    expect(`${stdout}${stderr}`).not.toContain("\u001b");
  }
});
