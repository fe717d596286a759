import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Conversation, Entry } from "../../kernel/src/base/vocabulary/conversation.ts";
import { Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { until } from "../support/until.ts";

const MIND = "test.mind";
const SCRIPT = `
context_tokens: 8000
turns:
  - { process: channel, when: hello, say: "Hi there", repeat: true }
  - { process: channel, when: read it, think: "I look.", say: "Let me see.", call: [{ tool: files/read, arguments: { path: a.md } }] }
  - { process: channel, when: "the text of a", say: "It says: the text of a" }
  - { process: channel, when: write it, call: [{ tool: files/write, arguments: { path: b.md, content: "new", reason: "asked" } }] }
  - { process: channel, when: waits for, say: "I proposed it." }
  - { process: channel, when: Committed, say: "It is done." }
  - { process: channel, when: delegate, call: [{ tool: spawn_worker, arguments: { task: "count the files" } }] }
  - { process: worker, when: count the files, call: [{ tool: files/list, arguments: {} }] }
  - { process: worker, when: a.md, say: "There is one file." }
  - { process: channel, when: process, say: "A worker counts." }
  - { process: channel, when: There is one file, say: "One file, says the worker." }
  - { process: channel, when: slow, say: "This takes a while", delay_ms: 600000, repeat: true }
`;

let bench: Bench;
let client: Client;

beforeAll(async () => {
  bench = await Bench.create({
    files: { "a.md": "the text of a\n" },
    extensions: [
      {
        id: MIND,
        manifest: {
          name: "A mind",
          permissions: {
            use_models: [{ category: "chat" }],
            read_entries: true,
            propose_actions: ["file.write"],
          },
          mind: {
            identity: ["SOUL.md"],
            tools: ["files/*"],
            direct_tools: ["files/read", "files/write"],
          },
        },
        files: { "SOUL.md": "I am calm." },
      },
    ],
  });
  const folder = join(bench.base, "config", "lares");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "script.yaml"), SCRIPT);
  await writeFile(
    join(folder, "lares.yaml"),
    JSON.stringify({
      version: 1,
      models: { providers: { script: { api: "scripted", script: "script.yaml" } } },
    }),
  );
  client = await bench.open({ environment: { XDG_CONFIG_HOME: join(bench.base, "config") } });
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
