import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Bench, inState, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { hasTerminals, lares, TerminalRun } from "../support/command-line.ts";
import { expectHarmless, HOSTILE, HOSTILE_PIECES, withoutOwnCodes } from "../support/hostile-text.ts";
import type { Action } from "../support/types.ts";
import { until } from "../support/until.ts";

const LOUD = "test.loud";
/** A file's name may contain everything but a slash. */
const FILE = `in/${HOSTILE.replaceAll("/", "").slice(0, 60)}.txt`;
/** What an effect's path may contain: control characters of ASCII are refused there. */
const NAMED = "in/\u202egnp.exe\u2066x\u200b [ok](evil) \u009b2J\u009c.txt";
/** As much of it as a glob may contain. */
const PATTERN = "pwned\u202egpj\u200b\u009bJ\u0007 yes\u2066";
const PROGRAM = `
import { defineAgent } from "@lares/sdk";
const host = globalThis[Symbol.for("lares.guest")];
const text = ${JSON.stringify(HOSTILE)};
const megabyte = "A".repeat(900_000);
export default defineAgent({
  tools: {
    async trace(_, ctx) {
      for (const level of ["info", "warn", "error"]) ctx.trace[level](text, { [text]: text, list: [text] });
      console.log(text);
      console.error(text);
      ctx.trace.info(megabyte);
      host.notify("trace", { level: "info", message: megabyte });
      return null;
    },
    async propose({ path }, ctx) {
      const title = text.slice(0, 200), reason = text + "x".repeat(4000 - text.length);
      return await ctx.actions.propose([
        { kind: "file.write", path, content: text + "\\n" + text },
        { kind: "file.move", from: ${JSON.stringify(NAMED)}, to: "in/moved.txt" },
        { kind: "folder.create", path: "in/folder" },
        { kind: "tag.add", path: "in/tagged.txt", tag: "pwned\\u202e\\u200b\\u2066tag" },
      ], { title, reason });
    },
    async tooLong(_, ctx) {
      try {
        await ctx.actions.propose([{ kind: "folder.create", path: "in/y" }], { title: megabyte, reason: "r" });
        return "taken";
      } catch (error) { return error.code; }
    },
    async say(_, ctx) {
      await host.call("notify", { title: text.slice(0, 200), message: text, severity: "error" });
      return null;
    },
    async answer() { return { [text]: text, list: [text] }; },
    async refuse() { return { status: "error", message: text, recoverable: true }; },
    async fail() { throw new Error(text); },
  },
});
`;
const tools = ["trace", "propose", "tooLong", "say", "answer", "refuse", "fail"];

let bench: Bench;
let client: Client;
beforeAll(async () => {
  bench = await Bench.create({
    files: { [FILE]: "hello\n", [NAMED]: "hello\n", "in/plain.txt": "plain\n", "in/tagged.txt": "t\n" },
    extensions: [
      {
        id: LOUD,
        program: PROGRAM,
        grants: { locations: ["in/"] },
        manifest: {
          name: HOSTILE.slice(0, 100),
          description: HOSTILE,
          author: HOSTILE,
          permissions: {
            read_entries: true,
            write_tags: true,
            propose_actions: ["file.write", "file.move", "folder.create"],
          },
          tools: tools.map((name) => ({
            name,
            description: HOSTILE,
            handler: name,
            parameters: { type: "object", properties: { [HOSTILE]: { description: HOSTILE } } },
          })),
        },
      },
    ],
    lares: { approvals: { rules: [{ decide: "allow", kind: "tag.*", path: `in/${PATTERN}/**` }] } },
  });
  client = await bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

describe("an agent's text at the command line", () => {
  let action: Action;
  beforeAll(async () => {
    action = await tool<Action>(client, LOUD, "propose", { path: "in/new.txt" });
    await tool(client, LOUD, "trace");
    await tool(client, LOUD, "say");
    await until("its traces", async () => {
      const found = await client.request<{ message: string }[]>("lares/traces/query", { level: "error" });
      return found.length > 0;
    });
  });

  const commands: [string, (id: string) => string[], RegExp][] = [
    ["traces", () => ["traces", "--limit", "1000"], /pwned/],
    ["actions", () => ["actions"], /pwned/],
    ["actions show", (id) => ["actions", "show", id], /pwned/],
    ["notifications", () => ["notifications"], /pwned/],
    ["agents", () => ["agents"], /test\.loud/],
    ["tools", () => ["tools"], /pwned/],
    ["tools call, with a result", () => ["tools", "call", `${LOUD}/answer`], /pwned/],
    ["tools call, refused", () => ["tools", "call", `${LOUD}/refuse`], /pwned/],
    ["tools call, failed", () => ["tools", "call", `${LOUD}/fail`], /pwned/],
    ["actions undo of what is pending", (id) => ["actions", "undo", id], /PendingApproval|pending|undone/i],
    ["memory stats", () => ["memory", "stats"], /test\.loud/],
  ];
  test.each(commands)(
    "lares %s: none of it is executed or hidden, or begins a line",
    async (name, args, shows) => {
      const printed = await lares(bench, args(action.id));
      expect(printed.stdout + printed.stderr).toMatch(shows);
      expectHarmless(printed.stdout, `${name}: stdout`);
      expectHarmless(printed.stderr, `${name}: stderr`);
    },
  );

  test.each(commands.slice(0, 6))(
    "lares %s --json: one line that any parser reads, without terminal codes",
    async (name, args) => {
      const { stdout } = await lares(bench, [...args(action.id), "--json"]);
      expectHarmless(stdout, name);
      const values = stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown);
      if (name !== "agents")
        expect(JSON.stringify(values)).toContain(JSON.stringify(HOSTILE_PIECES.bidi).slice(1, -1));
    },
  );

  test("a megabyte as a title is refused, as a trace it is cut", async () => {
    expect(await tool(client, LOUD, "tooLong")).toBe("InvalidParams");
    // In a pipe an entry is printed whole, which is as long as traces keep it.
    const { stdout } = await lares(bench, ["traces", "--limit", "1000"]);
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThan(20_000);
    const entries = await client.request<{ message: string }[]>("lares/traces/query", { limit: 1000 });
    expect(Math.max(...entries.map(({ message }) => message.length))).toBeLessThan(20_000);
  });

  test("lares run shows it as it happens, and ends", async () => {
    const { stdout, stderr } = await lares(bench, ["run", "--trust", "--once", "--approve", "policy"]);
    expect(stdout).toMatch(/pwned/);
    expectHarmless(stdout, "stdout");
    expectHarmless(stderr, "stderr");
  });
});

describe("a document's text", () => {
  const document = `version: 1\nextensions:\n  - path: ${JSON.stringify(HOSTILE)}\n${JSON.stringify(HOSTILE)}: 1\napprovals:\n  rules:\n    - { decide: ${JSON.stringify(HOSTILE)} }\n`;

  test("lares check prints its faults and its path harmlessly", async () => {
    await using other = await Bench.create({
      files: { [`${FILE.replace(".txt", "")}/lares.yaml`]: document },
    });
    for (const args of [["check"], ["check", "--json"], ["check", "--explain"]]) {
      const { code, stdout, stderr } = await lares(other, args);
      expect(code).toBe(1);
      expect(stdout).toMatch(/pwned/);
      expectHarmless(stdout, args.join(" "));
      expectHarmless(stderr, args.join(" "));
    }
  });

  test("diagnostics are text of one line, and no links", async () => {
    client.notify("textDocument/didOpen", {
      textDocument: { uri: bench.uri("lares.yaml"), languageId: "yaml", version: 1, text: document },
    });
    const { diagnostics } = await client.notification<{ diagnostics: { message: string }[] }>(
      "textDocument/publishDiagnostics",
      ({ diagnostics }) => diagnostics.length > 0,
    );
    expect(diagnostics.some(({ message }) => message.includes("pwned"))).toBe(true);
    for (const { message } of diagnostics) {
      expectHarmless(message, "diagnostic");
      expect(message).not.toContain("\n");
      expect(message).not.toMatch(/\]\(/);
    }
    client.notify("textDocument/didClose", { textDocument: { uri: bench.uri("lares.yaml") } });
  });

  test("requests are shown in full, to a script and in lares/status", async () => {
    await using other = await Bench.create({
      lares: { approvals: { rules: [{ decide: "allow", kind: "file.*", path: `in/${PATTERN}END/**` }] } },
    });
    const { code, stdout, stderr } = await lares(other, ["run", "--once"]);
    expect(code).toBe(1);
    expect(stderr.replaceAll(/\s+/g, " ")).toContain("END/**");
    expectHarmless(stdout + stderr, "run");
    await using stranger = await other.connect();
    const { trust } = await other.status(stranger);
    for (const ask of trust.asks) expectHarmless(ask, "ask");
    expect(trust.asks.join()).toContain("END/**");
  });
});

test("a question over the LSP is one line without links, as is what it shows", async () => {
  await using asked = await bench.connect({ trusted: true, approvals: "showMessageRequest" });
  const questions: string[] = [];
  asked.answer = ({ method, params }) => {
    if (method !== "window/showMessageRequest") return null;
    questions.push((params as { message: string }).message);
    return questions.length === 1 ? { title: "Show changes" } : null;
  };
  const { message } = await asked.notification<{ message: string }>("window/showMessage");
  expect(message).toContain("pwned");
  for (const text of [...questions, message]) {
    expectHarmless(text.replaceAll("\n", " "), "message");
    expect(text).not.toMatch(/\]\(/);
    expect(text.length).toBeLessThan(20_000);
  }
  for (const question of questions) expect(question).not.toContain("\n");
});

describe.runIf(hasTerminals)("at a terminal", () => {
  test("lares traces: what comes out is text and line ends", async () => {
    using run = new TerminalRun(bench, ["traces"]);
    expect(await run.ended).toBe(0);
    expect(run.shown).toMatch(/pwned/);
    expectHarmless(withoutOwnCodes(run.shown), "terminal");
  });

  test("unaccepted requests are shown in full before the question, and No refuses them", async () => {
    await using other = await Bench.create({
      lares: { approvals: { rules: [{ decide: "allow", kind: "file.*", path: `in/${PATTERN}END/**` }] } },
    });
    using run = new TerminalRun(other, ["run"]);
    await run.shows(/a allow all/);
    const before = withoutOwnCodes(run.shown);
    expectHarmless(before, "what is asked for");
    expect(before.replaceAll(/\s+/g, "")).toContain("END/**");
    run.type("n");
    expect(await run.ended).toBe(1);
    await using stranger = await other.connect();
    expect((await other.status(stranger)).trusted).toBe(false);
  });

  test("the card about a proposal is written by Lares; reject rejects", async () => {
    const action = await tool<Action>(client, LOUD, "propose", { path: "in/plain.txt" });
    await inState(client, LOUD, "Active", "Unloaded");
    for (const { id } of await client.request<Action[]>("lares/actions/list", { state: "PendingApproval" }))
      if (id !== action.id) await client.request("lares/actions/reject", { id });
    using run = new TerminalRun(bench, ["run", "--trust"]);
    await run.shows(/Approve this change\?/);
    const card = withoutOwnCodes(run.shown).split("Approve this change?")[0] ?? "";
    // Text before the card's corner came earlier.
    const foreign = card.slice(card.indexOf("╭─"), card.lastIndexOf("╰─"));
    expect(foreign).toContain("pwned");
    expectHarmless(foreign, "card");
    await run.shows(/r +reject/);
    run.type("r");
    await run.shows(/Why not\?/);
    // Like a person: repeats a key that had no effect.
    await run.pressUntil("\r", "the rejection", async () => {
      const { state } = await client.request<Action>("lares/actions/get", { id: action.id });
      return state === "Rejected";
    });
    run.type("\u0003");
    await run.ended;
  });
});

test("a file with such a name is harmless in a diagnostic and at a terminal, too", async () => {
  await writeFile(join(bench.root, `in/more${FILE.slice(3)}`), "more\n");
  const { stdout, stderr } = await lares(bench, ["check", join("in", FILE.slice(3))]);
  expectHarmless(stdout + stderr, "check");
});
