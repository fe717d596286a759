import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Conversation, Entry } from "../../kernel/src/base/vocabulary/conversation.ts";
import { Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { frame } from "../support/frames.ts";
import { scriptedModel } from "../support/scripted.ts";
import { until } from "../support/until.ts";

const MIND = "test.limited";
const SCRIPT = JSON.stringify({ context_tokens: 1_000_000, turns: [{ say: "Noted", repeat: true }] });
const STORAGE_ERROR = -33011;
const INVALID_PARAMS = -32602;
const LIMIT_EXCEEDED = -33007;

let bench: Bench;
let client: Client;
let other: Client;

beforeAll(async () => {
  bench = await Bench.create({
    extensions: [
      {
        id: MIND,
        manifest: { name: "A mind", permissions: { use_models: [{ category: "chat" }] }, mind: {} },
      },
    ],
  });
  const environment = await scriptedModel(bench, SCRIPT);
  client = await bench.open({ environment });
  other = await bench.open({ environment });
});
afterAll(() => bench[Symbol.asyncDispose]());

const open = (): Promise<Conversation> => client.request("lares/conversations/open", { agent: MIND });
const send = (id: string, text: string, from = client, key?: string): Promise<{ entry: string }> =>
  from.request("lares/conversations/send", { id, text, ...(key === undefined ? {} : { key }) });
const entriesOf = async (id: string): Promise<Entry[]> =>
  (await client.request<{ items: Entry[] }>("lares/conversations/entries", { id, limit: 1000 })).items;
const messagesOf = (entries: readonly Entry[], role: string): Extract<Entry, { kind: "message" }>[] =>
  entries.filter(
    (entry): entry is Extract<Entry, { kind: "message" }> =>
      entry.kind === "message" && entry.role === role && entry.partial !== true,
  );
const textsOf = (entries: readonly Entry[]): string[] =>
  messagesOf(entries, "user").map(({ parts: [part] }) => (part?.type === "text" ? part.text : ""));
const answered = (id: string, count = 1): Promise<Entry[]> =>
  until("the answer", async () => {
    const entries = await entriesOf(id);
    const { processes } = await client.request<Conversation>("lares/conversations/get", { id });
    const isResting = processes.every(({ state }) => state === "WaitingForInput");
    return isResting && messagesOf(entries, "assistant").length >= count && entries;
  });

test("a message of 10 MB is refused before anything is written, and the conversation and its client continue", async () => {
  const { id } = await open();
  const before = await entriesOf(id);
  await expect(send(id, "x".repeat(10_000_000))).rejects.toMatchObject({
    code: INVALID_PARAMS,
    message: expect.stringMatching(/10000000 characters; it must have at most 1000000/) as string,
  });
  const parts = ["x", "y"].map((letter) => ({ type: "text", text: letter.repeat(600_000) }));
  await expect(client.request("lares/conversations/send", { id, parts })).rejects.toMatchObject({
    code: LIMIT_EXCEEDED,
    message: expect.stringMatching(/1200000 characters; at most 1000000.*Put it into a file/) as string,
  });
  // The frame is skipped before it is parsed, so its answer cannot name the request.
  const params = { id, text: "x".repeat(11 * 1024 * 1024) };
  client.write(frame({ jsonrpc: "2.0", id: "long", method: "lares/conversations/send", params }));
  await until("the answer to the frame", () =>
    client.strays.some(
      ({ id: to, error }) => to === null && JSON.stringify(error).includes("over the limit"),
    ),
  );
  expect(await entriesOf(id)).toEqual(before);
  const longest = "x".repeat(1_000_000);
  await send(id, longest);
  expect(textsOf(await answered(id))).toEqual([longest]);
});

test("messages that two clients send at once are all taken, each once, those of each client in their order", async () => {
  const { id } = await open();
  const { subscription } = await other.request<{ subscription: string }>("lares/conversations/follow", {
    id,
  });
  const numbers = Array.from({ length: 25 }, (_, at) => at);
  const sent = await Promise.all(
    numbers.flatMap((at) => [
      send(id, `a${at}`, client),
      send(id, `b${at}`, other),
      send(id, "same", at % 2 === 0 ? client : other, "one"),
    ]),
  );
  const entries = await answered(id);
  const texts = textsOf(entries);
  for (const name of ["a", "b"])
    expect(texts.filter((text) => text.startsWith(name))).toEqual(numbers.map((at) => `${name}${at}`));
  expect(texts.filter((text) => text === "same")).toHaveLength(1);
  expect(texts).toHaveLength(51);
  const ids = new Set(messagesOf(entries, "user").map((entry) => entry.id));
  expect(new Set(sent.map(({ entry }) => entry))).toEqual(ids);
  const seqs = entries.map(({ seq }) => seq);
  expect(seqs).toEqual([...new Set(seqs)].toSorted((one, two) => one - two));
  // A client that follows gets the same, in the same order; the mind may have answered again since they were read.
  const told = await until("all of them", () => {
    const all = other.notifications<{ subscription: string; entry: Entry }>("lares/conversations/entry");
    const here = all.flatMap((each) => (each.subscription === subscription ? [each.entry] : []));
    return here.length >= entries.length && here.slice(0, entries.length);
  });
  expect(told.map(({ seq, id: entry }) => [seq, entry])).toEqual(
    entries.map(({ seq, id: entry }) => [seq, entry]),
  );
});

test("a damaged log is named by its conversation, and left as it is; the others answer, and all are listed", async () => {
  const [damaged, sound] = [await open(), await open()];
  for (const { id } of [damaged, sound]) {
    await send(id, "hello");
    await answered(id);
  }
  const { pid, stateFolder } = await bench.status(client);
  const file = join(stateFolder, "conversations", damaged.id, "log", "000001.ndjson");
  await bench.kill(pid);
  const bytes = (await readFile(file, "utf8")).replace('"hello"', '"HELLO"');
  await writeFile(file, bytes);
  await bench.ready(client);
  await expect(send(damaged.id, "are you there?")).rejects.toMatchObject({
    code: STORAGE_ERROR,
    message: expect.stringContaining(damaged.id) as string,
  });
  await expect(client.request("lares/conversations/follow", { id: damaged.id })).rejects.toMatchObject({
    code: STORAGE_ERROR,
  });
  await send(sound.id, "and you?");
  expect(textsOf(await answered(sound.id, 2))).toEqual(["hello", "and you?"]);
  const { items } = await client.request<{ items: Conversation[] }>("lares/conversations/list", {
    agent: MIND,
  });
  expect(items.map(({ id }) => id)).toEqual(expect.arrayContaining([damaged.id, sound.id]));
  expect(await readFile(file, "utf8")).toBe(bytes);
  expect((await bench.status(client)).ready).toBe(true);
});
