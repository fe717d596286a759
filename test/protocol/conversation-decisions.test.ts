import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Ask } from "../../kernel/src/base/vocabulary/ask.ts";
import type { Conversation, Entry } from "../../kernel/src/base/vocabulary/conversation.ts";
import { Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { until } from "../support/until.ts";

const MIND = "test.decisions";
const SCRIPT = `
context_tokens: 8000
turns:
  - { process: channel, when: circles, call: [{ tool: files/read, arguments: { path: a.md } }], repeat: true }
  - { process: channel, when: "the text of a", call: [{ tool: files/read, arguments: { path: a.md } }] }
  - { process: channel, when: "the text of a", call: [{ tool: files/read, arguments: { path: a.md } }] }
  - { process: channel, when: "Allowed, by the person", say: "It still says the same.", repeat: true }
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
const entriesOf = async (id: string): Promise<Entry[]> =>
  (await client.request<{ items: Entry[] }>("lares/conversations/entries", { id, limit: 1000 })).items;
const pendingAsks = (): Promise<Ask[]> => client.request("lares/asks/list", { state: "Pending" });
const said = (entries: readonly Entry[]): string[] =>
  entries.flatMap((entry) =>
    entry.kind === "message" && entry.role === "assistant" && entry.partial !== true
      ? [entry.parts.map((part) => (part.type === "text" ? part.text : "")).join("")]
      : [],
  );
const decisionsIn = (entries: readonly Entry[]): string[] =>
  entries.flatMap((entry) =>
    entry.kind === "action" || entry.kind === "ask" ? [`${entry.kind} ${entry.state} ${entry.origin}`] : [],
  );
const asked = (id: string): Promise<Ask> =>
  until("the question in the log", async () => {
    const [ask] = (await pendingAsks()).filter(({ conversation }) => conversation === id);
    const isLogged = (await entriesOf(id)).some((entry) => entry.kind === "ask" && entry.ref === ask?.id);
    return isLogged && ask;
  });

test("a question asked before kill -9 is the same one afterwards, and its answer continues the call, once", async () => {
  const { id } = await open();
  await send(id, "circles");
  const ask = await asked(id);
  expect(ask).toMatchObject({ kind: "repeat", process: "channel" });
  const { processes } = await client.request<Conversation>("lares/conversations/get", { id });
  expect(processes).toMatchObject([{ state: "WaitingForApproval" }]);
  const { pid } = await bench.status(client);
  await bench.kill(pid);
  const again = await until("the question", async () => {
    const [found] = await pendingAsks().catch(() => []);
    return found;
  });
  expect(again).toEqual(ask);
  await client.request("lares/asks/answer", { id: ask.id, digest: ask.digest, allow: true });
  const entries = await until("the answer", async () => {
    const found = await entriesOf(id);
    return said(found).at(-1) === "It still says the same." ? found : null;
  });
  expect(decisionsIn(entries)).toEqual(["ask Pending workspace", "ask Allowed person"]);
  expect(entries.filter(({ kind }) => kind === "tool_result")).toHaveLength(3);
  expect(await client.request<Ask[]>("lares/asks/list", {})).toHaveLength(1);
});
