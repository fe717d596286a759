import { spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Conversation } from "../../kernel/src/base/vocabulary/conversation.ts";
import { Bench } from "../support/bench.ts";
import { MIND, writingMind } from "../support/mind.ts";
import type { Client } from "../support/client.ts";
import { lares } from "../support/command-line.ts";
import { until } from "../support/until.ts";
import { scriptedModel } from "../support/scripted.ts";

const EXECUTABLE = fileURLToPath(new URL("../../kernel/bin/lares.js", import.meta.url));
const SCRIPT = `
context_tokens: 8000
turns:
  - { process: channel, when: hello, think: "A greeting.", say: "Hi **there**", repeat: true }
  - { process: channel, when: read it, say: "Let me see.", call: [{ tool: files/read, arguments: { path: a.md } }] }
  - { process: channel, when: "the text of a", say: "It says: the text of a" }
  - { process: channel, when: "the text of a", say: "I have it." }
  - { process: channel, when: write it, call: [{ tool: files/write, arguments: { path: b.md, content: "new", reason: "asked" } }] }
  - { process: channel, when: Waits for the person, say: "I proposed it." }
  - { process: channel, when: delegate, call: [{ tool: spawn_worker, arguments: { task: "count the files" } }] }
  - { process: worker, when: count the files, call: [{ tool: files/list, arguments: {} }] }
  - { process: worker, when: a.md, say: "There is one file." }
  - { process: channel, when: process, say: "A worker counts." }
  - { process: channel, when: There is one file, say: "One file, says the worker." }
  - { process: channel, when: have it fail, call: [{ tool: spawn_worker, arguments: { task: "work that fails" } }] }
  - { process: worker, when: work that fails, error: { class: Unauthorized, message: "The key is wrong." } }
  - { process: channel, when: process, say: "A worker tries." }
  - { process: channel, when: The key is wrong, say: "It did not work." }
  - { process: channel, when: say nothing, say: "", repeat: true }
  - { process: channel, when: too long, say: "Once upon a", cut: length, repeat: true }
  - { process: channel, when: say half, say: "Let me see.", call: [{ tool: files/read, arguments: { path: a.md } }] }
  - { process: channel, when: "the text of a", say: "" }
  - { process: channel, when: start two, call: [{ tool: spawn_worker, arguments: { task: "the first of two" } }, { tool: spawn_worker, arguments: { task: "the second of two" } }] }
  - { process: worker, when: of two, say: "Later.", delay_ms: 600000, repeat: true }
  - { process: channel, when: process, say: "Two workers work." }
  - { process: channel, when: the first of two, say: "One was stopped.", repeat: true }
  - { process: channel, when: piece by piece, say: "First.", call: [{ tool: files/read, arguments: { path: c.md } }], repeat: true }
  - { process: channel, when: "the text of c", say: "Then.", delay_ms: 600000, repeat: true }
  - { process: channel, when: greet me, say: "Good day.", repeat: true }
  - { process: compaction, when: greet me, say: "They greeted.", delay_ms: 500, repeat: true }
  - { process: compaction, when: hello, error: { class: Unauthorized, message: "The key is wrong." }, repeat: true }
  - { process: channel, when: slow, say: "This takes a while", delay_ms: 600000, repeat: true }
`;

let bench: Bench;
let client: Client;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  bench = await Bench.create({
    files: { "a.md": "the text of a\n", "c.md": "the text of c\n" },
    extensions: [
      writingMind({
        manifest: { commands: [{ name: "greet", title: "Greet", prompt: "prompts/greet.md" }] },
        files: { "prompts/greet.md": "hello" },
      }),
    ],
  });
  environment = await scriptedModel(bench, SCRIPT);
  client = await bench.open({ environment });
});
afterAll(() => bench[Symbol.asyncDispose]());

const run = (args: readonly string[], input?: string) => lares(bench, args, environment, input);
const conversations = async (): Promise<Conversation[]> =>
  (await client.request<{ items: Conversation[] }>("lares/conversations/list", {})).items;
const jsonLines = (stdout: string): Record<string, unknown>[] =>
  stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test("a command of an extension is listed, and run by the command line and in a chat", async () => {
  expect(await run(["commands"])).toMatchObject({ code: 0, stdout: `${MIND}/greet\n  Greet\n` });
  const ran = await run(["commands", "run", `${MIND}/greet`]);
  expect(ran.code).toBe(0);
  const [newest] = await conversations();
  expect(ran.stdout).toBe(`A conversation has begun: lares chat --resume ${newest?.id.slice(-8)}\n`);
  expect(await run(["chat"], "/greet\n")).toMatchObject({ code: 0, stdout: "Hi **there**\n" });
  expect((await run(["chat"], "/greet you\n")).stderr).toContain("greet takes nothing after it");
  // The first conversations of both chats were empty.
  expect((await conversations()).map(({ title }) => title)).toEqual(["Greet", "Greet"]);
});

describe("lares ask", () => {
  test("prints only the answer, and everything else to standard error", async () => {
    expect(await run(["ask", "hello"])).toEqual({ code: 0, stdout: "Hi **there**\n", stderr: "" });
    const read = await run(["ask", "--agent", "mind", "read it"]);
    expect(read).toMatchObject({ code: 0, stdout: "Let me see.\nIt says: the text of a\n" });
    expect(read.stderr).toBe("calls files/read\n");
  });

  test("waits for what workers find", async () => {
    const { code, stdout } = await run(["ask", "delegate"]);
    expect([code, stdout]).toEqual([0, "A worker counts.\nOne file, says the worker.\n"]);
  });

  test("takes the question from standard input, with files that it names", async () => {
    const { code, stdout } = await run(["ask", "-", "--json"], "look at @a.md and @gone.md\n");
    expect(code).toBe(0);
    const lines = jsonLines(stdout);
    expect(lines[0]).toMatchObject({
      type: "entry",
      entry: {
        parts: [
          { type: "text", text: "look at @a.md and @gone.md" },
          { type: "file", path: "a.md" },
        ],
      },
    });
    expect(lines.at(-1)).toMatchObject({
      type: "answer",
      agent: MIND,
      model: "script/script",
      text: "I have it.",
      usage: { input_tokens: expect.any(Number) },
      waiting: [],
    });
  });

  test("exits with 3 if a change waits for the person, and says how to decide", async () => {
    const { code, stdout, stderr } = await run(["ask", "write it"]);
    expect([code, stdout]).toEqual([3, "I proposed it.\n"]);
    const [newest] = await conversations();
    expect(stderr).toMatch(
      /Waits for you: Write b\.md\n.* lares actions show \S+\n.* lares actions approve \S{36}\n/,
    );
    expect(stderr).toContain(`lares chat --resume ${newest?.id.slice(-8)}`);
  });

  test("exits with 1 and the error if it failed", async () => {
    const { code, stdout, stderr } = await run(["ask", "nothing fits"]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("No turn of the script is left");
    const json = await run(["ask", "nothing fits", "--json"]);
    expect(json.code).toBe(1);
    expect(jsonLines(json.stdout).at(-1)).toMatchObject({
      type: "answer",
      text: "",
      error: { code: "ModelError", message: expect.stringContaining("No turn of the script is left") },
    });
  });

  test("exits with 4 if it was answered although a worker failed", async () => {
    const { code, stdout, stderr } = await run(["ask", "have it fail", "--json"]);
    expect(code).toBe(4);
    expect(stderr).toContain("worker failed: work that fails (The key is wrong.)");
    const answer = jsonLines(stdout).at(-1);
    expect(answer).toMatchObject({
      type: "answer",
      failed: [{ kind: "worker", task: "work that fails", error: { message: "The key is wrong." } }],
    });
    expect(answer).not.toHaveProperty("error");
  });

  test("exits with 5 if the answer reached the output limit, and says so beside it", async () => {
    const { code, stdout, stderr } = await run(["ask", "too long"]);
    expect([code, stdout]).toEqual([5, "Once upon a\n"]);
    expect(stderr).toContain("reached the model's output limit");
    const [newest] = await conversations();
    expect(stderr).toContain(`Continue with: lares chat --resume ${newest?.id.slice(-8)}\n`);
    const json = await run(["ask", "too long", "--json"]);
    expect(json.code).toBe(5);
    expect(jsonLines(json.stdout).at(-1)).toMatchObject({
      type: "answer",
      text: "Once upon a",
      cut: "length",
    });
  });

  test.each([
    ["nothing", "say nothing", ""],
    ["something before a call, and nothing behind it", "say half", "Let me see.\n"],
  ])("exits with 1 if the model says %s", async (_what, question, said) => {
    const { code, stdout, stderr } = await run(["ask", question]);
    expect([code, stdout]).toEqual([1, said]);
    expect(stderr).toContain("The model ended without an answer.");
  });

  test("prints an error before the question as JSON too", async () => {
    const { code, stdout } = await run(["ask", "hello", "--json", "--agent", "nobody"]);
    expect(code).toBe(2);
    expect(jsonLines(stdout)).toEqual([
      { type: "error", error: { code: "Usage", message: expect.stringContaining(`Use one of ${MIND}`) } },
    ]);
  });

  test.each([
    [["ask", ""], "The question is missing"],
    [["ask", "/help"], "looks like a command of lares chat"],
    [["ask", "hello", "--agent", "nobody"], `Use one of ${MIND}`],
    [["ask", "hello", "--model", "nobody/none"], "nobody"],
    [["ask", "hello", "--rehearse", "gone.yaml"], 'The script "gone.yaml" does not exist'],
    [["chat", "--resume", "zzz"], 'No conversation has an id that ends in "zzz"'],
    [["chat", "--fork", "zzz@x"], '"x" is not the number of an entry'],
    [["chat", "--fork", "a", "--resume", "b"], "cannot be combined"],
  ])("%j is wrong usage", async (args, message) => {
    const { code, stderr } = await run(args);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  test("does not rehearse in a kernel that asks the person's own models", async () => {
    const script = join(bench.base, "config", "lares", "script.yaml");
    const { code, stderr } = await run(["ask", "hello", "--rehearse", script]);
    expect(stderr).toMatch(
      /asks your own models, and an editor or another terminal uses it\. Close them, or end it/,
    );
    expect(code).toBe(2);
  });

  const started = (args: readonly string[], stdio: "ignore" | "pipe") =>
    spawn(process.execPath, [EXECUTABLE, ...args], {
      cwd: bench.root,
      env: { ...process.env, LARES_HOME: bench.home, NO_COLOR: "1", ...environment },
      stdio: ["ignore", stdio, "ignore"],
    });

  test.each([
    ["the answer", ["ask", "piece by piece"]],
    ["entries", ["ask", "piece by piece", "--json"]],
  ])("stops the conversation when the reader of %s leaves, and exits with 141", async (_what, args) => {
    const child = started(args, "pipe");
    const exited = new Promise((resolve) => child.once("exit", resolve));
    child.stdout?.destroy();
    expect(await exited).toBe(141);
    const [newest] = await conversations();
    expect([newest?.title, newest?.processes[0]?.state]).toEqual(["piece by piece", "Cancelled"]);
  });

  test("stops the conversation after Ctrl-C and exits with 130", async () => {
    const child = started(["ask", "slow"], "ignore");
    const exited = new Promise((resolve) => child.once("exit", resolve));
    const running = await until("the channel to run", async () =>
      (await conversations()).find(
        ({ title, processes }) => title === "slow" && processes[0]?.state === "Running",
      ),
    );
    child.kill("SIGINT");
    expect(await exited).toBe(130);
    const { processes } = await client.request<Conversation>("lares/conversations/get", { id: running.id });
    expect(processes[0]?.state).toBe("Cancelled");
  });
});

describe("lares chat without a terminal", () => {
  test("takes a message a line, and prints the answers as plain text", async () => {
    const { code, stdout, stderr } = await run(["chat"], "hello\n\nhello again\n");
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "Hi **there**\nHi **there**\n", stderr: "" });
    const [newest] = await conversations();
    expect(newest?.title).toBe("hello");
  });

  test("continues a conversation, and a copy of it", async () => {
    await run(["chat"], "hello\n");
    const [origin] = await conversations();
    const id = origin?.id.slice(-12) ?? "";
    expect((await run(["chat", "--resume", id], "hello\n")).stdout).toBe("Hi **there**\n");
    expect((await conversations())[0]?.id).toBe(origin?.id);
    expect((await run(["chat", "--fork", `${id}@2`], "hello\n")).stdout).toBe("Hi **there**\n");
    const copies = await conversations();
    expect(copies[0]?.forked_from).toEqual({ conversation: origin?.id, seq: 2 });
    const failed = await run(["chat", "--fork", id, "--model", "nobody/none"], "hello\n");
    expect({ code: failed.code, copies: await conversations() }).toEqual({ code: 2, copies });
  });

  test("runs commands, which no model reads", async () => {
    const { code, stdout, stderr } = await run(
      ["chat"],
      "/help\nhello\n/title A greeting\n/pin\n/workers\n/context\n/stop\n/fork\nhello\n/quit\nnot read\n",
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/Commands\n\/help [^]*Every other line is a message\.\nHi \*\*there\*\*\n/);
    expect(stdout).toContain("No branch or worker was started");
    expect(stdout).toMatch(/What script\/script sees: [\d,]+ of 8,000 tokens/);
    expect(stderr).toMatch(
      /The last answer stays[^]*Nothing runs in this conversation[^]*The copy is \w{8}\./,
    );
    const [copy, origin] = await conversations();
    expect(copy?.forked_from?.conversation).toBe(origin?.id);
    expect(origin?.title).toBe("A greeting");
    const { items } = await client.request<{ items: { kind: string; role?: string }[] }>(
      "lares/conversations/entries",
      { id: copy?.id },
    );
    expect(items.filter(({ kind, role }) => kind === "message" && role === "user")).toHaveLength(2);
  });

  test("waits for a compaction, so that the next command sees the summary", async () => {
    const said = "greet me now\n".repeat(4);
    const { code, stdout, stderr } = await run(
      ["chat"],
      `${said}/compact\n/redact greet me now\n/context\n/pin\n/pin\n`,
    );
    expect(stderr).toMatch(
      /Earlier turns were summarised\.\n[^]*removed from [^]*stays in the context\.[^]*no longer pinned\.\n$/,
    );
    expect(stdout).toMatch(/summaries\n.*\n┆ \| They greeted\./);
    expect(code).toBe(0);
    const failed = await run(["chat"], `${"hello\n".repeat(4)}/compact\n`);
    expect(failed.stderr).toContain("error: Earlier turns were not summarised. The key is wrong.");
    expect(failed.code).toBe(1);
  });

  test("stops with /stop what was asked elsewhere", async () => {
    const { id } = await client.request<Conversation>("lares/conversations/open", { agent: MIND });
    await client.request("lares/conversations/send", { id, text: "slow" });
    const state = async () =>
      (await client.request<Conversation>("lares/conversations/get", { id })).processes[0]?.state;
    await until("the channel to run", async () => (await state()) === "Running");
    const { code, stderr } = await run(["chat", "--resume", id.slice(-12)], "/stop\n");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "Stopped.\n" });
    expect(await state()).toBe("Cancelled");
  });

  test("stops one worker by its name or id, and continues with the others", async () => {
    const { id } = await client.request<Conversation>("lares/conversations/open", { agent: MIND });
    await client.request("lares/conversations/send", { id, text: "start two" });
    const workers = async () => {
      const { processes } = await client.request<Conversation>("lares/conversations/get", { id });
      return processes.filter(({ kind }) => kind === "worker");
    };
    const started = await until("two workers to run", async () => {
      const running = (await workers()).filter(({ state }) => state === "Running");
      return running.length === 2 ? running : undefined;
    });
    const first = started.find(({ task }) => task === "the first of two");
    const resumed = ["chat", "--resume", id.slice(-12)];
    const { code, stdout, stderr } = await run(resumed, `/workers\n/stop ${first?.id.slice(-8)}\n`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/Stopped\.\n$/) });
    expect(stdout).toContain(`/stop ${first?.id.slice(-8)} stops it`);
    const states = async () => (await workers()).map(({ task, state }) => [task, state]);
    expect(Object.fromEntries(await states())).toEqual({
      "the first of two": "Cancelled",
      "the second of two": "Running",
    });
    expect((await run(resumed, "/stop the first\n")).stderr).toContain("No running branch or worker");
    await run(resumed, "/stop the second\n");
    expect(Object.fromEntries(await states())["the second of two"]).toBe("Cancelled");
  });

  test.each([
    ["/stopp", 2, 'There is no command "/stopp". Did you mean /stop?'],
    ["/title", 2, "Write the title after /title."],
    ["/resume", 2, "Name the conversation instead: lares chat --resume ID."],
    ["/undo", 2, "No change was made"],
    ["/model nobody/none", 1, "nobody"],
    ["/compact", 1, "nothing to summarise"],
  ])("refuses %s, continues with the next line, and exits with %i", async (command, expected, message) => {
    const { code, stdout, stderr } = await run(["chat"], `${command}\nhello\n`);
    expect(stderr).toContain(message);
    expect([code, stdout]).toEqual([expected, "Hi **there**\n"]);
  });

  test("leaves no conversation behind if nothing was said", async () => {
    const before = await conversations();
    expect((await run(["chat"], "")).code).toBe(0);
    expect((await conversations()).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  });

  test("refuses a message that is too long, leaves no conversation behind, and continues with the next", async () => {
    const before = (await conversations()).length;
    const long = "x".repeat(1_000_001);
    for (const [args, input] of [
      [["ask", "-"], long],
      [["chat"], `${long}\n`],
    ] as const) {
      const { code, stderr } = await run(args, input);
      expect(stderr).toContain("error: The message has 1,000,001 characters");
      expect(code).toBe(2);
    }
    expect(await conversations()).toHaveLength(before);
    expect((await run(["chat"], `${long}\nhello\n`)).stdout).toBe("Hi **there**\n");
  });

  test("continues the last conversation where nobody can choose", async () => {
    await run(["chat"], "hello\n");
    const [last] = await conversations();
    expect(last?.unread).toBe(0);
    const { code, stdout, stderr } = await run(["chat", "--resume"], "hello\n");
    expect([code, stdout]).toEqual([0, "Hi **there**\n"]);
    expect(stderr).toMatch(
      new RegExp(`Continues the last of \\d+ conversations: hello \\(${last?.id.slice(-8)}\\)`),
    );
    expect((await conversations())[0]?.id).toBe(last?.id);
  });
});

const keyless = Object.fromEntries(
  ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"].map((name) => [name, ""]),
);

test("a rehearsal answers from its script, from the beginning each time, and reaches no model", async () => {
  await using other = await Bench.create({
    extensions: [
      {
        id: MIND,
        manifest: {
          name: "A mind",
          permissions: { use_models: [{ category: "chat" }] },
          mind: { identity: ["SOUL.md"], tools: [] },
        },
        files: { "SOUL.md": "I am calm." },
      },
    ],
  });
  await other.write("script.yaml", "turns: [{ say: first }, { say: second }]");
  const own = { XDG_CONFIG_HOME: join(other.base, "config") };
  expect((await lares(other, ["permissions", "--grant", MIND], own)).code).toBe(0);
  const args = ["ask", "hello", "--json", "--rehearse", "script.yaml"];
  for (let time = 1; time <= 2; time++) {
    // The kernel of the command before may still run: at first one without the rehearsal, then one of the last run.
    const { code, stdout, stderr } = await lares(other, args, own);
    expect(code).toBe(0);
    expect(stderr).toContain("A rehearsal: script.yaml answers, and no model is asked.");
    expect(jsonLines(stdout).at(-1)).toMatchObject({ model: "rehearsal/script", text: "first" });
  }
  // Nor does a rehearsal answer what is asked without one.
  const none = { ...own, OLLAMA_HOST: "127.0.0.1:1" };
  const plain = await lares(other, ["ask", "hello"], { ...keyless, ...none });
  expect(plain.stdout).toBe("");
  expect(plain.stderr).toContain("No language model is set up.");
}, 240_000);

test("without a terminal, nobody is asked about a folder that has no document", async () => {
  await using empty = await Bench.create();
  const folder = join(empty.base, "empty");
  await mkdir(folder);
  const { code, stderr } = await lares(empty, ["ask", "hello", "--folder", folder], environment);
  expect(code).toBe(2);
  expect(stderr).toContain("Run lares chat once at a terminal");
  const none = { XDG_CONFIG_HOME: join(empty.base, "no-config"), OLLAMA_HOST: "127.0.0.1:1" };
  const without = await lares(empty, ["ask", "hello", "--folder", folder], { ...keyless, ...none });
  expect(without.stderr).toContain("No language model is set up. The quickest ways:");
  expect(without.code).toBe(2);
});
