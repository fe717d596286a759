import { join } from "node:path";
import { silentLog } from "../../kernel/src/base/log.ts";
import { Conversations } from "../../kernel/src/conversations/conversations.ts";
import type { MessageQuestion } from "../../kernel/src/conversations/message-search.ts";
import { conversationMigrations } from "../../kernel/src/conversations/migrations.ts";
import type { NewEntry } from "../../kernel/src/conversations/records.ts";
import { SourceRows } from "../../kernel/src/conversations/source-rows.ts";
import { MessageVectors } from "../../kernel/src/conversations/vectors/message-vectors.ts";
import { vectorFile } from "../../kernel/src/conversations/vectors/vector-file.ts";
import { MessageEmbedders } from "../../kernel/src/embedders/message-embedders.ts";
import { DiskTimer } from "../../kernel/src/journal/disk-timer.ts";
import type { EmbedHere } from "../../kernel/src/memory-contract/store-port.ts";
import type { EmbedderSpec } from "../../kernel/src/memory-contract/store-settings.ts";
import { systemClock } from "../../kernel/src/platform/clock.ts";
import { openDatabase } from "../../kernel/src/platform/database/database.ts";
import type { Conversation } from "./conversations.ts";

const agent = "dev.bench.talk";

interface MessageBed extends AsyncDisposable {
  /** Returns the indexes of the turns that answer a question, the best first. */
  search(text: string, mode: MessageQuestion["mode"], limit: number): Promise<readonly number[]>;
}

/** Stores a conversation in a kernel's own log and index, each turn as a message, and waits for the vectors. */
export async function openMessages(
  folder: string,
  { turns }: Conversation,
  embedder: EmbedderSpec,
  embedHere: EmbedHere,
): Promise<MessageBed> {
  const opened = new AsyncDisposableStack();
  const database = opened.use(
    await openDatabase({
      path: join(folder, "ledger.sqlite"),
      migrations: conversationMigrations,
      log: silentLog,
    }),
  );
  const embedders = opened.use(
    new MessageEmbedders({
      specOf: () => embedder,
      authorityOf: () => null,
      post: () => () => Promise.reject(new Error("Nothing is sent.")),
      embedHere,
      clock: systemClock,
    }),
  );
  const vectors = new MessageVectors({
    ...vectorFile(folder, silentLog),
    sources: new SourceRows(database),
    embedderOf: (of) => embedders.of(of),
    maxVectors: () => 1_000_000,
    clock: systemClock,
    log: silentLog,
  });
  const all = opened.use(
    new Conversations({
      stateFolder: folder,
      database,
      clock: systemClock,
      log: silentLog,
      disk: new DiskTimer(systemClock),
      maxBytes: () => Infinity,
      vectors,
    }),
  );
  const { log } = opened.use(await all.create(agent));
  const entries = turns.map(({ text, timestamp }, turn): NewEntry => ({
    id: `m${turn}`,
    process: "c",
    created: timestamp ?? "2023-01-01T00:00:00.000Z",
    turn: "m0",
    origin: "person",
    kind: "message",
    role: "user",
    parts: [{ type: "text", text }],
  }));
  for (let at = 0; at < entries.length; at += 100) await log.append(entries.slice(at, at + 100));
  await vectors.caughtUp();
  return {
    search: async (text, mode, limit) =>
      (await all.answering([log.id], { agent, text, mode, limit })).map(({ entry }) =>
        Number(entry.id.slice(1)),
      ),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
