/** Examples of the protocol from the conversations of a mind, its memories and its commands. */
import { beforeAll, describe, test } from "vitest";
import type { Conversation, Entry } from "../../kernel/src/base/vocabulary/conversation.ts";
import type { ConversationContext } from "../../kernel/src/base/vocabulary/conversation-requests.ts";
import type { Client } from "./client.ts";
import { AGENT, type Library, MIND } from "./library-of-examples.ts";
import type { Recorder } from "./recorded.ts";
import { until } from "./until.ts";

const nowhere = "0197a000-0000-7000-8000-00000000ffff";
/** A picture of one pixel. */
const dot =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Registers the tests that record them. */
export function showConversations(libraryOf: () => Library): void {
  describe("a mind's conversations", () => {
    let library: Library;
    let client: Client;
    let recorder: Recorder;
    beforeAll(() => {
      library = libraryOf();
      ({ client, recorder } = library);
    });
    const ask = <Result>(...given: Parameters<Library["ask"]>): Promise<Result> =>
      library.ask<Result>(...given);
    const refused = (...given: Parameters<Library["refused"]>): Promise<void> => library.refused(...given);

    /** Waits until the channel has answered what came last of this kind, and rests. */
    async function answered(id: string, kind: "conclusion" | "message"): Promise<void> {
      await until("the answer", async () => {
        const { items } = await client.request<{ items: Entry[] }>("lares/conversations/entries", { id });
        const { processes } = await client.request<Conversation>("lares/conversations/get", { id });
        const isAnswer = (entry: Entry): boolean =>
          entry.kind === "message" && entry.role === "assistant" && entry.partial !== true;
        const asked = items.findLastIndex((entry) => entry.kind === kind && !isAnswer(entry));
        const isAtRest = processes.every(({ state }) => state === "WaitingForInput" || state === "Done");
        return asked >= 0 && isAtRest && items.slice(asked).some(isAnswer);
      });
    }

    test("memories of minds", async () => {
      // Has the text that the memory gets.
      await ask("lares/conversations/editBlock", {
        agent: MIND,
        name: "shelves",
        text: "The library closes at six.",
      });
      const { id } = await client.request<Conversation>("lares/conversations/open", { agent: MIND });
      await client.request("lares/conversations/send", { id, text: "Remember when the library closes." });
      const memory = await until("the memory", async () => {
        const { items } = await client.request<{ items: { id: string }[] }>("lares/memory/query", {
          agent: MIND,
          kind: "associative",
        });
        return items[0]?.id;
      });
      const corrected = await ask<{ id: string }>("lares/memory/correct", {
        agent: MIND,
        id: memory,
        text: "The library closes at six.",
      });
      await refused("lares/memory/correct", "NotFound", { agent: MIND, id: memory, text: "At seven." });
      await refused("lares/memory/correct", "InvalidParams", { agent: MIND, id: memory, text: " " });
      // Each request counts in the usage that is recorded later.
      await answered(id, "conclusion");
      await ask("lares/conversations/why", { id });
      await ask("lares/memory/forget", { agent: MIND, id: corrected.id, copies: true });
      await client.request("lares/conversations/editBlock", { agent: MIND, name: "shelves", text: "" });
      await client.request("lares/conversations/delete", { id });
    });

    test("conversations", async () => {
      const { id } = await ask<Conversation>("lares/conversations/open", { agent: MIND, title: "Books" });
      await refused("lares/conversations/open", "NotFound", { agent: AGENT });
      await refused("lares/conversations/open", "ModelError", { agent: MIND, model: "nobody/x" });
      const { subscription } = await ask<{ subscription: string }>("lares/conversations/follow", {
        id,
        from: 0,
      });
      const { entry } = await ask<{ entry: string }>("lares/conversations/send", {
        id,
        text: "Are you there?",
        key: "first",
      });
      await until("the answer", async () => {
        const { processes, unread } = await client.request<Conversation>("lares/conversations/get", { id });
        return unread === 1 && processes[0]?.state === "WaitingForInput";
      });
      recorder.notification(
        "lares/conversations/changed",
        await client.notification<Conversation>(
          "lares/conversations/changed",
          ({ unread, processes }) => unread === 1 && processes[0]?.state === "WaitingForInput",
        ),
      );
      for (const method of ["entry", "delta"])
        recorder.notification(
          `lares/conversations/${method}`,
          await client.notification(`lares/conversations/${method}`),
        );
      await ask("lares/conversations/unfollow", { subscription });
      const { seq } = await ask<Conversation>("lares/conversations/get", { id });
      await ask("lares/conversations/update", { id, title: "Shelves", read: seq });
      await ask("lares/conversations/list", { agent: MIND, state: "open", text: "shelves", limit: 10 });
      await refused("lares/conversations/list", "InvalidParams", { cursor: "page 2" });
      await ask("lares/conversations/entries", { id, kinds: ["message"] });
      await ask("lares/conversations/entries", { id, after: 1, before: seq + 1, limit: 100 });
      await refused("lares/conversations/entries", "InvalidParams", {});
      await ask("lares/conversations/verify", { id });
      await ask("lares/conversations/verify", { agent: MIND });
      await refused("lares/conversations/verify", "InvalidParams", { id, agent: MIND });
      await refused("lares/conversations/verify", "NotFound", { agent: AGENT });
      await ask("lares/conversations/search", {
        agent: MIND,
        query: "there",
        mode: "text",
        in: ["messages"],
        limit: 10,
      });
      await refused("lares/conversations/search", "NotFound", { agent: AGENT, query: "there" });
      await refused("lares/conversations/send", "InvalidParams", { id, text: " " });
      await refused("lares/conversations/pin", "NotFound", { id, entry: nowhere, pinned: true });
      await ask("lares/conversations/pin", { id, entry, pinned: true });
      await ask("lares/conversations/context", { id });
      await refused("lares/conversations/context", "NotFound", { id, process: nowhere });
      await ask("lares/conversations/why", { id });
      await refused("lares/conversations/why", "NotFound", { id, entry: nowhere });
      await refused("lares/conversations/why", "InvalidParams", { id, entry });
      await refused("lares/conversations/compact", "IllegalTransition", { id });
      await refused("lares/conversations/send", "InvalidParams", {
        id,
        parts: [{ type: "image", media_type: "image/png", base64: "bm8gcGljdHVyZQ==" }],
      });
      await ask("lares/conversations/send", {
        id,
        parts: [
          { type: "text", text: "What is this? It is beside" },
          { type: "file", path: "notes/ada.md", range: [1, 2] },
          { type: "image", media_type: "image/png", base64: dot },
        ],
      });
      await until("the second answer", async () => {
        const { processes, unread } = await client.request<Conversation>("lares/conversations/get", { id });
        return unread === 1 && processes[0]?.state === "WaitingForInput";
      });
      await ask("lares/conversations/compact", { id });
      // The compaction is done before its summary is written, and the context that begins with it comes last.
      await until("the context that begins with the summary", async () => {
        const { sections } = await client.request<ConversationContext>("lares/conversations/context", { id });
        return sections.some(({ name, text }) => name === "summaries" && text !== "");
      });
      await ask("lares/conversations/editBlock", {
        agent: MIND,
        name: "shelves",
        text: "Poems stand by the door.",
      });
      await refused("lares/conversations/editBlock", "NotFound", { agent: MIND, name: "doors", text: "" });
      await refused("lares/conversations/editBlock", "InvalidParams", {
        agent: MIND,
        name: "visit",
        text: "",
      });
      await ask("lares/conversations/editBlock", {
        agent: MIND,
        id,
        name: "visit",
        text: "Ada looks for a poem.",
      });
      await ask("lares/conversations/editBlock", {
        agent: MIND,
        name: "shelves",
        text: "Poems stand by the window.",
        forget: true,
      });
      await ask("lares/conversations/blocks", { agent: MIND, id });
      await ask("lares/conversations/search", { agent: MIND, query: "window", in: ["blocks", "memories"] });
      await ask("lares/conversations/entries", { agent: MIND, limit: 10 });
      await refused("lares/conversations/blocks", "NotFound", { agent: AGENT });
      await refused("lares/conversations/redact", "NotFound", { id, entry: nowhere });
      await refused("lares/conversations/redact", "InvalidParams", { id });
      await ask("lares/conversations/entries", { id, limit: 100 });
      await ask("lares/conversations/redact", { id, entry, preview: true });
      await ask("lares/conversations/redact", { id, entry, with_derived: true });
      await ask("lares/conversations/redact", { id, text: "What is this?" });
      await ask("lares/conversations/cancel", { id });
      await refused("lares/conversations/cancel", "NotFound", { id, process: nowhere });
      const fork = await ask<Conversation>("lares/conversations/fork", { id });
      await refused("lares/conversations/fork", "InvalidParams", { id, at: 1_000 });
      await refused("lares/conversations/update", "ModelError", { id, model: "nobody/x" });
      await ask("lares/conversations/update", { id, state: "archived" });
      await refused("lares/conversations/send", "IllegalTransition", { id, text: "Hello?" });
      await ask("lares/conversations/delete", { id });
      recorder.notification(
        "lares/conversations/deleted",
        await client.notification("lares/conversations/deleted"),
      );
      for (const method of [
        "get",
        "send",
        "follow",
        "entries",
        "verify",
        "compact",
        "fork",
        "update",
        "delete",
      ] as const)
        await refused(`lares/conversations/${method}`, "NotFound", {
          id,
          ...(method === "send" ? { text: "Hello?" } : {}),
        });
      await ask("lares/conversations/delete", { id: fork.id });
    });

    test("commands", async () => {
      await ask("lares/commands/list");
      const ran = await ask<{ value: { conversation: string } }>("lares/commands/run", {
        agent: MIND,
        name: "greet",
        arguments: { to: "Ada" },
      });
      await answered(ran.value.conversation, "message");
      await refused("lares/commands/run", "NotFound", { agent: MIND, name: "nothing" });
      await refused("lares/commands/run", "ToolError", { agent: MIND, name: "greet", arguments: {} });
    });
  });
}
