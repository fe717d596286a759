import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Conversation, Entry } from "../../kernel/src/base/vocabulary/conversation.ts";
import { Bench } from "../support/bench.ts";
import { startTokenProvider } from "../support/token-provider.ts";
import { until } from "../support/until.ts";

const MIND = "test.mind";
const tokens = 300;

test("a client that follows a conversation gets every entry once and in order, although its kernel is killed in mid-answer", async () => {
  await using provider = await startTokenProvider();
  await using bench = await Bench.create({
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
  const folder = join(bench.base, "config", "lares");
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, "lares.yaml"),
    JSON.stringify({
      version: 1,
      models: {
        providers: { lab: { api: "openai-compatible", base_url: `http://${provider.host}/v1` } },
        routes: { default: "lab/m" },
      },
      egress: { private_hosts: [provider.host] },
    }),
  );
  const client = await bench.open({ environment: { XDG_CONFIG_HOME: join(bench.base, "config") } });
  const { id } = await client.request<Conversation>("lares/conversations/open", { agent: MIND });
  const { subscription } = await client.request<{ subscription: string }>("lares/conversations/follow", {
    id,
  });
  const heard = (method: string): Record<string, unknown>[] =>
    client.received.flatMap((message) =>
      message.method === method ? [message.params as Record<string, unknown>] : [],
    );
  const entries = (): Entry[] => heard("lares/conversations/entry").map(({ entry }) => entry as Entry);
  const isAnswered = (): boolean =>
    entries().some(
      (entry) => entry.kind === "message" && entry.role === "assistant" && entry.partial !== true,
    );

  await client.request("lares/conversations/send", { id, text: `stream t of ${tokens}`, key: "k" });
  for (let kill = 0; kill < 2; kill++) {
    const before = entries().length;
    await until("a part of the answer to be in the log", () =>
      entries()
        .slice(before)
        .some((entry) => entry.kind === "message" && entry.partial === true),
    );
    const { pid } = await bench.status(client);
    await bench.kill(pid);
    await until("the next kernel", async () => (await bench.status(client)).pid !== pid);
  }
  await until("the answer", isAnswered);
  await until("the channel to rest", async () => {
    const { processes } = await client.request<Conversation>("lares/conversations/get", { id });
    return processes[0]?.state === "WaitingForInput";
  });
  const { items } = await client.request<{ items: Entry[] }>("lares/conversations/entries", {
    id,
    limit: 1000,
  });
  await until("every entry", () => entries().length >= items.length);
  expect(entries()).toEqual(items);
  expect(heard("lares/conversations/entry").every((params) => params["subscription"] === subscription)).toBe(
    true,
  );
  const texts = items.flatMap((entry) =>
    entry.kind === "message" && entry.role === "assistant" && entry.partial !== true ? entry.parts : [],
  );
  const [answer] = texts;
  expect(texts).toHaveLength(1);
  expect(answer?.type === "text" && answer.text.trim().split(" ")).toHaveLength(tokens);
  // Pieces of a message come before what replaces it.
  const ends = new Map<string, number>();
  client.received.forEach((message, index) => {
    if (message.method !== "lares/conversations/entry") return;
    const { entry } = message.params as { entry: Entry };
    if (entry.kind === "void") ends.set(entry.message, index);
    if (entry.kind === "message" && entry.partial !== true) ends.set(entry.id, index);
  });
  client.received.forEach((message, index) => {
    if (message.method !== "lares/conversations/delta") return;
    expect(index).toBeLessThan(ends.get((message.params as { message: string }).message) ?? 0);
  });
});
