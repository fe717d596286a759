import { expect, test } from "vitest";
import type { Conversation, Entry } from "../../kernel/src/base/vocabulary/conversation.ts";
import { Bench, leave, type ConnectOptions } from "../support/bench.ts";
import { MIND, mind } from "../support/mind.ts";
import type { Client } from "../support/client.ts";
import { scriptedModel } from "../support/scripted.ts";
import { filesWith } from "../support/stored.ts";
import { isAlive, until } from "../support/until.ts";

const LAST = "the work is complete";
/** A turn of three requests, each of which takes a while, so that the client leaves in its middle. */
const SCRIPT = `
turns:
  - { process: channel, when: begin, delay_ms: 400, call: [{ tool: files/read, arguments: { path: a.md } }] }
  - { process: channel, when: first file, delay_ms: 400, call: [{ tool: files/read, arguments: { path: b.md } }] }
  - { process: channel, when: second file, delay_ms: 400, say: "${LAST}" }
`;

async function benchOf(unattended: string): Promise<Bench> {
  return Bench.create({
    files: { "a.md": "first file\n", "b.md": "second file\n" },
    lares: { conversations: { unattended } },
    extensions: [mind()],
  });
}

/** Starts the turn and leaves while its first request runs. Returns the kernel's process id. */
async function beginAndLeave(bench: Bench, options: ConnectOptions): Promise<{ id: string; kernel: number }> {
  const client = await bench.open(options);
  const kernel = (await bench.status(client)).pid;
  const { id } = await client.request<Conversation>("lares/conversations/open", { agent: MIND });
  await client.request("lares/conversations/send", { id, text: "begin" });
  await until("the first request", async () => (await requests(client, id)) === 1);
  await leave(client);
  return { id, kernel };
}

async function entries(client: Client, id: string): Promise<Entry[]> {
  return (await client.request<{ items: Entry[] }>("lares/conversations/entries", { id, limit: 200 })).items;
}

const requests = async (client: Client, id: string): Promise<number> =>
  (await entries(client, id)).filter(({ kind }) => kind === "request").length;

const isStored = async (bench: Bench, text: string): Promise<boolean> =>
  (await filesWith(bench.home, text)).length > 0;

test("with --keep a conversation is finished while nobody is there, though it may not stay unattended", async () => {
  await using bench = await benchOf("1s");
  const environment = await scriptedModel(bench, SCRIPT);
  const keep: ConnectOptions = { environment, channel: ["--stdio", "--keep"] };
  const { id, kernel } = await beginAndLeave(bench, keep);
  await until("the answer to be stored", () => isStored(bench, LAST));
  expect(isAlive(kernel)).toBe(true);
  const client = await bench.open(keep);
  expect((await bench.status(client)).pid).toBe(kernel);
  expect(await requests(client, id)).toBe(3);
});

test("without it the conversation stops at its next request, the kernel ends, and the next client continues", async () => {
  await using bench = await benchOf("1s");
  const environment = await scriptedModel(bench, SCRIPT.replaceAll("delay_ms: 400", "delay_ms: 1500"));
  const { id, kernel } = await beginAndLeave(bench, { environment });
  await until("the kernel to end", () => !isAlive(kernel));
  expect(await isStored(bench, LAST)).toBe(false);
  const client = await bench.open({ environment });
  await until("the answer", async () =>
    (await entries(client, id)).some(
      (entry) => entry.kind === "message" && JSON.stringify(entry.parts).includes(LAST),
    ),
  );
  const calls = (await entries(client, id)).filter(({ kind }) => kind === "tool_call");
  expect(calls).toHaveLength(2);
});
