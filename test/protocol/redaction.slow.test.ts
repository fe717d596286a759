/** A person has a text removed from a conversation, with a real kernel: no file of the state has it, also after its death. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Conversation } from "../../kernel/src/base/vocabulary/conversation.ts";
import type { RedactedConversation } from "../../kernel/src/base/vocabulary/conversation-requests.ts";
import { HostileMind, MIND } from "../support/hostile-mind.ts";
import * as stored from "../support/stored.ts";
import { until } from "../support/until.ts";

const confided = "quincewater-41";
const mark = "[redacted by the person]";

let mind: HostileMind;
beforeAll(async () => {
  mind = await HostileMind.open();
});
afterAll(() => mind[Symbol.asyncDispose]());

const filesWith = (text: string): Promise<string[]> => stored.filesWith(mind.bench.home, text);

test("a text is gone from files, pages, searches, forks and requests, and the log still proves", async () => {
  const id = await mind.attack([{ say: `Noted: ${confided}` }], {}, `My password is ${confided}`);
  await mind.rested(id);
  const fork = await mind.client.request<Conversation>("lares/conversations/fork", { id });
  expect(await filesWith(confided)).not.toEqual([]);
  const done = await mind.client.request<RedactedConversation>("lares/conversations/redact", {
    id: fork.id,
    text: confided,
  });
  expect(done.conversations).toEqual([id, fork.id]);
  expect(await filesWith(confided)).toEqual([]);
  const { pid } = await mind.bench.status(mind.client);
  await mind.bench.kill(pid);
  await until("the next kernel", async () => (await mind.bench.status(mind.client)).pid !== pid);
  for (const each of [id, fork.id]) {
    const entries = JSON.stringify(await mind.entries(each));
    expect(entries).not.toContain(confided);
    expect(entries).toContain(`My password is ${mark}`);
    expect(await mind.client.request("lares/conversations/verify", { id: each })).toMatchObject({ ok: true });
    await mind.next(each, [{ say: "I do not know." }], {}, "What was it?");
    await mind.rested(each);
  }
  const { messages } = mind.requests.at(-1) ?? { messages: [] };
  expect(JSON.stringify(messages)).toContain(`My password is ${mark}`);
  expect(JSON.stringify(messages)).not.toContain(confided);
  expect(
    await mind.client.request("lares/conversations/search", { agent: MIND, query: "quincewater" }),
  ).toEqual({ items: [] });
  expect(await filesWith(confided)).toEqual([]);
});
