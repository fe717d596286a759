import type { Clock } from "../base/clock.ts";
import type { LaresError } from "../base/errors.ts";
import { isJsonObject, type JsonValue } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import type { OneAtATime } from "../base/one-at-a-time.ts";
import type { Entry } from "../base/vocabulary/conversation.ts";
import { decodeCheckpoint } from "../journal/checkpoint.ts";
import type { DiskTimer } from "../journal/disk-timer.ts";
import { Journal } from "../journal/journal.ts";
import type { StartFold } from "../journal/proof.ts";
import { type Verification, verifyJournal } from "../journal/verify.ts";
import { joinPath } from "../platform/files/data-files.ts";
import { objectReader, openObjectStore } from "../platform/files/object-store.ts";
import type { IndexRows } from "./index-rows.ts";
import { LogFold } from "./log-fold.ts";
import {
  type ConversationRecord,
  conversationRecords,
  conversationRefusals,
  decodeHeader,
  type Header,
} from "./records.ts";

/** Entries that were appended to one of the logs, which is whose the header says. */
export interface Appended {
  readonly header: Header;
  readonly entries: readonly Entry[];
  /** The log holds text of neither the person nor the model. */
  readonly holdsForeign: boolean;
}

export interface LogOptions {
  readonly id: string;
  /** The conversation's folder. */
  readonly folder: string;
  readonly rows: IndexRows;
  readonly clock: Clock;
  readonly log: Log;
  /** Shared by all logs. */
  readonly disk: DiskTimer;
  readonly proofs: OneAtATime;
  maxBytes(): number;
  /** Entries were appended, and the operating system has them. */
  appended(appended: Appended): void;
  /** The log was found not to be what was written; it refuses everything from then on. */
  damaged?(error: LaresError): void;
}

/** Returns where a conversation's large contents are, in its folder. */
export function objectsIn(folder: string): string {
  return joinPath(folder, "objects");
}

/** Proves a log that is not open, as far as it can be read. */
export async function verifyClosed(
  { id, folder, rows }: Pick<LogOptions, "id" | "folder" | "rows">,
  signal?: AbortSignal,
): Promise<Verification> {
  const head = await rows.head(id);
  return await verifyJournal(joinPath(folder, "log"), head?.anchor, conversationRecords, {
    parts: objectReader(objectsIn(folder)),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Opens the log, proven, with what the fold of its records has found. */
export async function openJournal(
  options: LogOptions,
): Promise<{ readonly journal: Journal<ConversationRecord>; readonly found: LogFold }> {
  const { id, folder, rows, clock, log, disk, proofs } = options;
  const [head, indexed] = await Promise.all([rows.head(id), rows.lastSeq(id)]);
  const stored = head?.checkpoint ?? null;
  let isOpening = true;
  const foldOptions = {
    conversation: id,
    // Later proofs run in the background, beside an index that follows the appends.
    indexedThrough: () => (isOpening ? indexed : Infinity),
  };
  const { journal, found } = await Journal.open(
    {
      name: "conversation",
      form: conversationRecords,
      refusals: conversationRefusals,
      disk,
      folder: joinPath(folder, "log"),
      anchor: head?.anchor,
      storeAnchor: (anchor, durability) => rows.storeHead(id, anchor, durability),
      checkpoints: {
        stored: stored !== null && isReached(stored, indexed) ? stored : null,
        store: (text) => rows.storeCheckpoint(id, text),
        turns: proofs,
      },
      parts: await openObjectStore(objectsIn(folder)),
      ...(options.damaged === undefined ? {} : { damaged: options.damaged }),
      maxBytes: () => options.maxBytes(),
      clock,
      log,
    },
    ((saved: JsonValue) => LogFold.start(foldOptions, saved)) as StartFold<ConversationRecord, LogFold>,
  );
  isOpening = false;
  return { journal, found };
}

/** Behind a checkpoint that the index does not reach, records would be missing from it for good. */
function isReached(stored: string, indexed: number): boolean {
  const checkpoint = decodeCheckpoint(stored);
  if (checkpoint === null) return false;
  const { state } = checkpoint;
  const header = isJsonObject(state) ? decodeHeader(state["header"]) : null;
  return indexed >= (header?.forked_from?.seq ?? 0) + checkpoint.at.end.seq;
}
