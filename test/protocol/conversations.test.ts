import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Action } from "../../kernel/src/base/vocabulary/action.ts";
import type { Conversation, Entry } from "../../kernel/src/base/vocabulary/conversation.ts";
import { Bench } from "../support/bench.ts";
import { MIND, writingMind } from "../support/mind.ts";
import type { Client } from "../support/client.ts";
import { until } from "../support/until.ts";
import { scriptedModel } from "../support/scripted.ts";

const HYBRID = "test.program";
const SCRIPT = `
context_tokens: 8000
turns:
  - { process: channel, when: hello, say: "Hi there", repeat: true }
  - { process: channel, when: read it, think: "I look.", say: "Let me see.", call: [{ tool: files/read, arguments: { path: a.md } }] }
  - { process: channel, when: "the text of a", say: "It says: the text of a" }
  - { process: channel, when: write it, call: [{ tool: files/write, arguments: { path: b.md, content: "new", reason: "asked" } }], repeat: true }
  - { process: channel, when: Waits for the person, say: "I proposed it.", repeat: true }
  - { process: channel, when: Committed, say: "It is done." }
  - { process: channel, when: delegate, call: [{ tool: spawn_worker, arguments: { task: "count the files" } }] }
  - { process: worker, when: count the files, call: [{ tool: files/list, arguments: {} }] }
  - { process: worker, when: a.md, say: "There is one file." }
  - { process: channel, when: process, say: "A worker counts." }
  - { process: channel, when: There is one file, say: "One file, says the worker." }
  - { process: channel, when: long, say: "Noted.", repeat: true }
  - { process: compaction, say: "The person sent long texts.", repeat: true }
  - { process: channel, when: slow, say: "This takes a while", delay_ms: 600000, repeat: true }
`;

let bench: Bench;
let client: Client;

beforeAll(async () => {
  bench = await Bench.create({
    files: { "a.md": "the text of a\n" },
    extensions: [
      writingMind({
        manifest: { commands: [{ name: "greet", title: "Greet", prompt: "prompts/greet.md" }] },
        files: { "prompts/greet.md": "hello" },
      }),
      {
        id: HYBRID,
        program: `
          import { defineAgent } from "@lares/sdk";
          export default defineAgent({
            commands: {
              tidy: ({ folder }) => "tidied " + folder,
              breaks: () => { for (;;) new Array(1e6).fill({}).map(String); },
            },
          });
        `,
        manifest: {
          name: "A program",
          commands: [
            {
              name: "tidy",
              title: "Tidy",
              handler: "tidy",
              parameters: { type: "object", properties: { folder: { type: "string" } } },
            },
            { name: "breaks", title: "Break", handler: "breaks" },
          ],
          resources: { max_cpu_ms_per_event: 500 },
        },
      },
    ],
  });
  client = await bench.open({ environment: await scriptedModel(bench, SCRIPT) });
});
afterAll(() => bench[Symbol.asyncDispose]());

const open = (): Promise<Conversation> => client.request("lares/conversations/open", { agent: MIND });
const send = (id: string, text: string): Promise<{ entry: string }> =>
  client.request("lares/conversations/send", { id, text });
const get = (id: string): Promise<Conversation> => client.request("lares/conversations/get", { id });
const entriesOf = async (id: string): Promise<Entry[]> =>
  (await client.request<{ items: Entry[] }>("lares/conversations/entries", { id, limit: 1000 })).items;
const said = (entries: readonly Entry[], role = "assistant"): string[] =>
  entries.flatMap((entry) =>
    entry.kind === "message" && entry.role === role && entry.partial !== true
      ? [entry.parts.map((part) => (part.type === "text" ? part.text : "")).join("")]
      : [],
  );
const rested = (id: string, answers: number): Promise<Entry[]> =>
  until("the channel to rest", async () => {
    const { processes } = await get(id);
    const entries = await entriesOf(id);
    return processes.every(({ state }) => state === "WaitingForInput" || state === "Done") &&
      said(entries).length >= answers
      ? entries
      : null;
  });

test("a message is answered, and both are in the log with the usage", async () => {
  const { id } = await open();
  const { entry } = await send(id, "hello");
  const entries = await rested(id, 1);
  expect(said(entries)).toEqual(["Hi there"]);
  expect(entries.find((each) => each.id === entry)).toMatchObject({ kind: "message", origin: "person" });
  expect(entries.map(({ kind }) => kind)).toEqual([
    "process",
    "message",
    "meta",
    "process",
    "request",
    "message",
    "usage",
    "process",
  ]);
  expect(await get(id)).toMatchObject({
    title: "hello",
    unread: 1,
    model: "script/script",
    tainted: ["scripted"],
  });
});

test("what the channel reads is a call with its result, and the model gets it", async () => {
  const { id } = await open();
  await send(id, "read it");
  const entries = await rested(id, 2);
  expect(said(entries)).toEqual(["Let me see.", "It says: the text of a"]);
  const result = entries.find(({ kind }) => kind === "tool_result");
  expect(result).toMatchObject({
    origin: "workspace",
    result: { status: "success", value: { path: "a.md" } },
  });
});

test("a change waits for a person as any other, and its end wakes the channel", async () => {
  const { id } = await open();
  await send(id, "write it");
  const waiting = await rested(id, 2);
  expect(said(waiting)).toEqual(["", "I proposed it."]);
  const [action] = (
    await client.request<Action[]>("lares/actions/list", { state: "PendingApproval" })
  ).filter(({ on_behalf_of: by }) =>
    by?.some((actor) => actor.kind === "process" && actor.conversation === id),
  );
  expect(action).toMatchObject({ agent: MIND, state: "PendingApproval" });
  await client.request("lares/actions/approve", { id: action?.id, digest: action?.digest });
  const entries = await rested(id, 3);
  expect(said(entries).at(-1)).toBe("It is done.");
  expect(entries.filter(({ kind }) => kind === "action")).toMatchObject([
    { ref: action?.id, state: "PendingApproval" },
    { ref: action?.id, state: "Committed" },
  ]);
});

test("a worker gets the task alone, works beside the channel, and its report wakes it", async () => {
  const { id } = await open();
  await send(id, "delegate");
  const entries = await rested(id, 5);
  expect(said(entries.filter(({ process }) => process === entries[0]?.process))).toEqual([
    "",
    "A worker counts.",
    "One file, says the worker.",
  ]);
  const { processes } = await get(id);
  expect(processes).toMatchObject([
    { kind: "channel", state: "WaitingForInput" },
    { kind: "worker", state: "Done", task: "count the files", parent: processes[0]?.id },
  ]);
});

test("cancel stops what runs, and the next message starts it again", async () => {
  const { id } = await open();
  await send(id, "slow");
  await until("the request", async () => (await get(id)).processes[0]?.state === "Running");
  const stopped = await client.request<Conversation>("lares/conversations/cancel", { id });
  expect(stopped.processes).toMatchObject([{ state: "Cancelled" }]);
  await send(id, "hello");
  expect(said(await rested(id, 1))).toEqual(["Hi there"]);
});

test("a follower gets every entry once and in order, with the pieces of an answer before it", async () => {
  const { id } = await open();
  const { subscription } = await client.request<{ subscription: string }>("lares/conversations/follow", {
    id,
  });
  await send(id, "hello");
  const entries = await rested(id, 1);
  const got = (): number[] =>
    client
      .notifications<{ subscription: string; entry: Entry }>("lares/conversations/entry")
      .flatMap((each) => (each.subscription === subscription ? [each.entry.seq] : []));
  await until("all entries", () => got().length >= entries.length);
  expect(got()).toEqual(entries.map(({ seq }) => seq));
  const deltas = client
    .notifications<{ subscription: string; text: string }>("lares/conversations/delta")
    .flatMap((each) => (each.subscription === subscription ? [each.text] : []));
  expect(deltas.join("")).toBe("Hi there");
});

test("the same key sends a message once", async () => {
  const { id } = await open();
  const sent = await Promise.all(
    [1, 2, 3].map(() => client.request("lares/conversations/send", { id, text: "hello", key: "k" })),
  );
  expect(new Set(sent.map((each) => JSON.stringify(each))).size).toBe(1);
  const entries = await rested(id, 1);
  expect(said(entries, "user")).toEqual(["hello"]);
});

test("a fork has the past of its origin and a future of its own", async () => {
  const { id } = await open();
  await send(id, "hello");
  const entries = await rested(id, 1);
  const fork = await client.request<Conversation>("lares/conversations/fork", { id });
  expect(fork).toMatchObject({ forked_from: { conversation: id, seq: entries.at(-1)?.seq } });
  await send(fork.id, "hello again");
  expect(said(await rested(fork.id, 2))).toEqual(["Hi there", "Hi there"]);
  expect(said(await entriesOf(id))).toEqual(["Hi there"]);
});

test("after kill -9 in mid-answer the next kernel asks again, and nothing is missing or twice", async () => {
  const { id } = await open();
  await send(id, "slow");
  await until("the request", async () => (await entriesOf(id)).some(({ kind }) => kind === "request"));
  const { pid } = await bench.status(client);
  await bench.kill(pid);
  await until("the next request", async () => {
    const entries = await entriesOf(id).catch(() => []);
    return entries.filter(({ kind }) => kind === "request").length >= 2;
  });
  const entries = await entriesOf(id);
  expect(said(entries, "user")).toEqual(["slow"]);
  expect(entries.filter(({ kind }) => kind === "request")).toMatchObject([{ attempt: 1 }, { attempt: 2 }]);
  await client.request("lares/conversations/cancel", { id });
});

test("what the model would see is shown by sections", async () => {
  const { id } = await open();
  await send(id, "hello");
  await rested(id, 1);
  const { sections, model } = await client.request<{
    sections: { name: string; text: string; tokens: number }[];
    model: string;
  }>("lares/conversations/context", { id });
  expect(model).toBe("script/script");
  expect(sections.map(({ name }) => name)).toEqual([
    "identity",
    "role",
    "tools",
    "blocks",
    "bulletin",
    "summaries",
    "history",
    "suffix",
  ]);
  expect(sections[0]?.text).toContain("I am calm.");
  expect(sections[6]?.text).toContain("hello");
});

test("a long conversation is compacted: the summary, what is pinned and exact strings stay, and the person sees it", async () => {
  const { id } = await open();
  const { entry } = await send(id, "long: the key figure is 4711-ABC in reports/2026/final.md");
  await client.request("lares/conversations/pin", { id, entry, pinned: true });
  let answers = 1;
  await rested(id, answers);
  const filler = "these words only fill the window of the model ".repeat(30);
  let entries: Entry[] = [];
  let before = 0;
  for (let turn = 0; turn < 30 && !entries.some(({ kind }) => kind === "summary"); turn++) {
    before = Math.max(before, (await get(id)).context.tokens);
    await send(id, `long ${turn}: ${filler}`);
    entries = await rested(id, ++answers);
  }
  const summary = entries.find((each) => each.kind === "summary");
  expect(summary).toMatchObject({ text: "The person sent long texts.", tainted: true });
  const { sections, tokens } = await client.request<{
    sections: { name: string; text: string; tokens: number }[];
    tokens: number;
  }>("lares/conversations/context", { id });
  // One number everywhere, also between the summary and the next request.
  expect(tokens).toBe((await get(id)).context.tokens);
  const sizes = entries.flatMap((each) => (each.kind === "summary" ? [each.tokens ?? 0] : []));
  expect(sizes.at(-1)).toBeGreaterThan(0);
  expect(sizes.at(-1)).toBeLessThan(before);
  const text = (name: string): string => sections.find((each) => each.name === name)?.text ?? "";
  expect(text("summaries")).toContain("The person sent long texts.");
  expect(text("summaries")).toContain("4711-ABC");
  expect(text("summaries")).toContain("reports/2026/final.md");
  expect(text("history")).not.toContain("long 0:");
  expect(entries.some((each) => each.kind === "message" && JSON.stringify(each).includes("long 0:"))).toBe(
    true,
  );
  await send(id, "hello");
  expect(said(await rested(id, answers + 1)).at(-1)).toBe("Hi there");
});

test("a mind that follows a script changes nothing without a person, whatever rules allow, and says why", async () => {
  const { id } = await open();
  await send(id, "write it");
  await rested(id, 2);
  const [action] = await client.request<Action[]>("lares/actions/list", { state: "PendingApproval" });
  expect(action).toMatchObject({ sources: ["scripted"] });
});

test("commands: a function of the program, and a text for the mind", async () => {
  const list = await client.request<{ name: string; agent: string }[]>("lares/commands/list", {});
  expect(list.map(({ agent, name }) => [agent, name])).toEqual([
    [MIND, "greet"],
    [HYBRID, "tidy"],
    [HYBRID, "breaks"],
  ]);
  const greeted = await client.request<{ status: string; value: { conversation: string } }>(
    "lares/commands/run",
    { agent: MIND, name: "greet" },
  );
  expect(greeted.status).toBe("success");
  expect(said(await rested(greeted.value.conversation, 1))).toEqual(["Hi there"]);
  expect(
    await client.request("lares/commands/run", { agent: HYBRID, name: "tidy", arguments: { folder: "a" } }),
  ).toEqual({ status: "success", value: "tidied a" });
  for (const [name, args, code] of [
    ["nothing", {}, "NotFound"],
    ["tidy", { folder: 1 }, "ToolError"],
    ["breaks", {}, "AgentError"],
  ] as const)
    await expect(
      client.request("lares/commands/run", { agent: HYBRID, name, arguments: args }),
    ).rejects.toMatchObject({ data: { code } });
});

test("what the person has seen is not unread, also for other clients and the next kernel's list", async () => {
  const { id } = await open();
  await send(id, "hello");
  await rested(id, 1);
  const before = await get(id);
  expect(before.unread).toBe(1);
  const first = await client.request<Conversation>("lares/conversations/update", { id, read: 1 });
  expect([first.unread, first.seq]).toEqual([1, before.seq]);
  const marked = await client.request<Conversation>("lares/conversations/update", { id, read: before.seq });
  expect(marked).toMatchObject({ unread: 0, updated: before.updated });
  await client.notification<Conversation>(
    "lares/conversations/changed",
    (changed) => changed.id === id && changed.unread === 0,
  );
  // A second time, nothing is written.
  const again = await client.request<Conversation>("lares/conversations/update", { id, read: marked.seq });
  expect(again.seq).toBe(marked.seq);
  await send(id, "hello");
  await rested(id, 2);
  expect((await get(id)).unread).toBe(1);
});

test("every client is told that a conversation was deleted", async () => {
  await using other = await bench.open({ environment: { XDG_CONFIG_HOME: join(bench.base, "config") } });
  const { id } = await open();
  await client.request("lares/conversations/delete", { id });
  for (const each of [client, other])
    await each.notification<{ id: string }>("lares/conversations/deleted", (told) => told.id === id);
});

test("a message is found in another spelling once it has its vector, and after its deletion by nothing", async () => {
  const { id } = await open();
  await send(id, "hello, the Photographers' guild meets in the greenhouse");
  await rested(id, 1);
  const search = async (mode: string): Promise<(string | undefined)[]> => {
    const params = { agent: MIND, query: "fotographers grenhouse", mode, in: ["messages"] };
    const { items } = await client.request<{ items: { entry?: Entry }[] }>(
      "lares/conversations/search",
      params,
    );
    return items.map(({ entry }) => entry?.conversation);
  };
  expect(await search("text")).not.toContain(id);
  await until("the vector of the message", async () => (await search("auto")).includes(id));
  expect(await search("vector")).toContain(id);
  const { stateFolder } = await bench.status(client);
  expect(existsSync(join(stateFolder, "message-vectors.sqlite"))).toBe(true);
  await client.request("lares/conversations/delete", { id });
  expect(await search("vector")).not.toContain(id);
});
