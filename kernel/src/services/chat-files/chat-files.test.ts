import { expect, test } from "vitest";
import { invalidParams, LaresError } from "../../base/errors.ts";
import type { ChatBinding } from "../../base/vocabulary/chat-binding.ts";
import { ChatFiles } from "./chat-files.ts";

const path = "today.chat.md";
const person = { kind: "person", client: "editor" } as never;

/** Files whose messages are refused while `refusal` is set, after `said` entries were written all the same. */
function filesWith() {
  const bindings = new Map<string, ChatBinding>();
  const seqs = new Map<string, number>();
  const state = { refusal: null as Error | null, said: 0, opened: 0 };
  const row = (id: string) => ({ id, agent: id.split("/")[0], seq: seqs.get(id), processes: [] });
  const conversations = {
    open: async (_by: unknown, { agent }: { agent: string }) => {
      const id = `${agent}/${++state.opened}`;
      seqs.set(id, 1);
      return row(id);
    },
    get: async (id: string) => {
      if (!seqs.has(id)) throw new LaresError("NotFound", "There is no conversation.");
      return row(id);
    },
    send: async (_by: unknown, { id }: { id: string }) => {
      const { refusal, said } = state;
      seqs.set(id, (seqs.get(id) ?? 0) + (refusal === null ? 1 : said));
      if (refusal !== null) throw refusal;
      return `message in ${id}`;
    },
    delete: async (_by: unknown, id: string) => ({ kept_for_forks: !seqs.delete(id) }),
    entries: async () => ({ items: [], total: 0 }),
  };
  const files = new ChatFiles({
    conversations: conversations as never,
    actions: { get: async () => null },
    agents: { list: () => ["a", "b"].map((id) => ({ id, name: id, mind: true })) as never },
    files: { pathsOf: async () => [path] },
    bindings: {
      get: async (of: string) => bindings.get(of) ?? null,
      put: async (binding: ChatBinding) => void bindings.set(binding.path, binding),
      move: async () => undefined,
      among: async () => [],
      digest: (text: string) => text,
    },
  });
  const send = (agent: string) => files.send(person, path, "hello", agent);
  return { state, send, seqs, binding: () => bindings.get(path) };
}

test("a message that is refused leaves no empty conversation, and the next one begins one", async () => {
  const { state, send, seqs, binding } = filesWith();
  state.refusal = invalidParams("The message has 1048575 characters; at most 1000000 can be sent.");
  await expect(send("a")).rejects.toThrow("1048575 characters");
  expect([...seqs]).toEqual([]);
  expect(binding()).toMatchObject({ agent: null, conversation: null, sent: null });
  state.refusal = null;
  expect(await send("a")).toMatchObject({ conversation: "a/2" });
});

test("the file shows the conversation before when a message to another agent is refused", async () => {
  const { state, send, seqs, binding } = filesWith();
  await send("a");
  state.refusal = invalidParams("Too long.");
  await expect(send("b")).rejects.toThrow("Too long.");
  expect([...seqs.keys()]).toEqual(["a/1"]);
  expect(binding()).toMatchObject({ agent: "a", conversation: "a/1", sent: "message in a/1" });
});

test("a conversation in which something was said, or that was there before, is kept", async () => {
  const { state, send, seqs, binding } = filesWith();
  state.refusal = new LaresError("StorageError", "The disk is full.");
  state.said = 1;
  await expect(send("a")).rejects.toThrow("The disk is full.");
  expect(binding()).toMatchObject({ conversation: "a/1" });
  state.said = 0;
  await expect(send("a")).rejects.toThrow("The disk is full.");
  expect([...seqs]).toEqual([["a/1", 2]]);
});
