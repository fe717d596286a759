import { join } from "node:path";
import { onTestFinished } from "vitest";
import { silentLog } from "../../base/log.ts";
import { ManualClock } from "../../base/testing/manual-clock.ts";
import type { Entry, EntryOf } from "../../base/vocabulary/conversation.ts";
import { DiskTimer } from "../../journal/disk-timer.ts";
import type { Database } from "../../platform/database/database.ts";
import { openNearDatabase } from "../../platform/testing/near-database.ts";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import { Conversations } from "../conversations.ts";
import { conversationMigrations } from "../migrations.ts";
import type { NewEntry } from "../records.ts";

export const agent = "test.steward";

interface Bench {
  readonly stateFolder: string;
  readonly database: Database;
  /** The numbers of statements of its batches. */
  readonly batches: readonly number[];
  /** Its queries. */
  readonly queries: readonly string[];
  readonly clock: ManualClock;
  /** Holds later batches back until what it returns is called. */
  holdBatches(): () => void;
  open(): Conversations;
}

/** Conversations in a folder of their own, on a clock that a test moves. */
export async function bench(): Promise<Bench> {
  const stateFolder = await temporaryFolder();
  const opened = await openNearDatabase({
    path: join(stateFolder, "ledger.sqlite"),
    migrations: conversationMigrations,
    log: silentLog,
  });
  onTestFinished(() => opened[Symbol.asyncDispose]());
  const batches: number[] = [];
  const queries: string[] = [];
  let held: Promise<void> | null = null;
  const database: Database = {
    query: (sql, params) => {
      queries.push(sql);
      return opened.query(sql, params);
    },
    batch: async (statements, options) => {
      batches.push(statements.length);
      if (held !== null) await held;
      return await opened.batch(statements, options);
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
  const holdBatches = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    held = promise;
    return () => {
      held = null;
      resolve();
    };
  };
  const clock = new ManualClock();
  const open = (): Conversations =>
    new Conversations({
      stateFolder,
      database,
      clock,
      log: silentLog,
      disk: new DiskTimer(clock),
      maxBytes: () => 64 * 1024 * 1024,
    });
  return { stateFolder, database, batches, queries, clock, holdBatches, open };
}

export const common = (id: string) => ({ id, process: "c", created: "2026-11-26T08:00:00.000Z", turn: "m1" });
export const said = (id: string, text: string, by: "user" | "assistant" = "user"): NewEntry => ({
  ...common(id),
  origin: by === "user" ? "person" : "model",
  kind: "message",
  role: by,
  parts: [{ type: "text", text }],
});
export const channel: NewEntry = {
  ...common("p1"),
  origin: "person",
  kind: "process",
  value: { id: "c", kind: "channel", state: "Running", started: "2026-11-26T08:00:00.000Z" },
};
export const textOf = (entry: Entry): string =>
  (entry as EntryOf<"message">).parts.map((part) => ("text" in part ? part.text : "")).join("");
export const textsOf = (entries: readonly Entry[]): string[] =>
  entries.filter(({ kind }) => kind === "message").map(textOf);
