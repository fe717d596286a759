import type { Clock } from "../base/clock.ts";
import {
  conflict,
  invalidParams,
  isLaresError,
  limitExceeded,
  messageOf,
  storageError,
} from "../base/errors.ts";
import { canonicalJson, isJsonObject, type JsonValue } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import { type Foreign, isForeign, nothingForeign } from "../base/vocabulary/foreign.ts";
import type { MemoryResult } from "../base/vocabulary/memory-calls.ts";
import { removeLeftoverTemporaries, writeFileAtomically } from "../platform/files/atomic-file.ts";
import { isNotPlainFile, joinPath, moveAside, readSmallFile } from "../platform/files/data-files.ts";
import { failpoint } from "../platform/failpoint.ts";
import { sha256Hex } from "../platform/files/hash.ts";
import type { Journal } from "../journal/journal.ts";
import { type FoundRecord, readData } from "./journal-summary.ts";
import { maxLineBytes, type RecordKind } from "../memory-contract/records.ts";
import { parsed } from "../journal/lines.ts";

/** Maximum bytes of canonical JSON of a working memory. */
export const maxStateBytes = 1024 * 1024;
/** A checkpoint is written after this many swaps, or this many bytes of states, whichever comes first. */
const swapsPerCheckpoint = 256;
const bytesPerCheckpoint = 8 * 1024 * 1024;
const checkpointName = "working.json";
const recordId = "working";
/** The journal's folder, beside the checkpoint. */
const journalName = "journal";

export type WorkingState = MemoryResult<"workingRead">;

/** The newest record as kept in memory and in the checkpoint. */
interface Stored extends WorkingState {
  readonly seq: number;
  readonly salt: string;
  /** The marks of its record, if it has some. */
  readonly foreign?: JsonValue;
}

/** A small state that is replaced as a whole, by compare-and-swap. Each state is a record of the journal. */
export class WorkingMemory implements AsyncDisposable {
  readonly #folder: string;
  readonly #journal: Journal<RecordKind>;
  readonly #log: Log;
  #stored: Stored | null;
  #turn: Promise<unknown> = Promise.resolve();
  #swapsSinceCheckpoint = 0;
  #bytesSinceCheckpoint = 0;

  private constructor(folder: string, journal: Journal<RecordKind>, log: Log, stored: Stored | null) {
    this.#folder = folder;
    this.#journal = journal;
    this.#log = log;
    this.#stored = stored;
  }

  /** `newest` is the last working record of a proven journal. */
  static async open(
    folder: string,
    journal: Journal<RecordKind>,
    newest: FoundRecord | null,
    { clock, log }: { readonly clock: Pick<Clock, "now">; readonly log: Log },
  ): Promise<WorkingMemory> {
    await removeLeftoverTemporaries(folder);
    const checkpointPath = joinPath(folder, checkpointName);
    if (await isNotPlainFile(checkpointPath)) {
      const movedTo = await moveAside(checkpointPath, clock.now());
      log.warn("The checkpoint of a working memory was not a file; it is recreated from the journal.", {
        movedTo,
      });
    }
    if (newest === null) return new WorkingMemory(folder, journal, log, null);
    const checkpoint = await readCheckpoint(folder, newest, log);
    const memory = new WorkingMemory(
      folder,
      journal,
      log,
      checkpoint ?? storedFrom(newest, parsed(await readData(joinPath(folder, journalName), newest))),
    );
    if (checkpoint === null) memory.#swapsSinceCheckpoint = 1;
    return memory;
  }

  /** Seq of the record with the current state; 0 if there is none. */
  get newestSeq(): number {
    return this.#stored?.seq ?? 0;
  }

  /** Bytes of the records with older states; exact only for the newest. */
  get supersededBytes(): number {
    const { tally } = this.#journal;
    const records = tally.records("working", "update");
    return records < 2 ? 0 : (tally.bytes("working", "update") * (records - 1)) / records;
  }

  read(): WorkingState {
    const { revision, state } = this.#stored ?? { revision: 0, state: null };
    return { revision, state };
  }

  /**
   * Replaces the state if it is still at `revision`. Resolves when the new state survives the death of the process.
   * Rejects with Conflict { revision } if another swap came first, LimitExceeded if the state is too large. `foreign`: texts
   * that nobody vouches for and that whoever writes it has read.
   */
  swap(revision: number, state: JsonValue, foreign = nothingForeign): Promise<{ readonly revision: number }> {
    let text: string;
    try {
      text = canonicalJson(state);
    } catch (error) {
      return Promise.reject(invalidParams(`The state has no JSON form: ${messageOf(error)}`));
    }
    const bytes = Buffer.byteLength(text);
    if (bytes > maxStateBytes) {
      const sentence = `The state has ${bytes} bytes of JSON; working memory takes at most ${maxStateBytes}. Keep large data in temporal or associative memory.`;
      return Promise.reject(limitExceeded("working_state_bytes", bytes, sentence));
    }
    // In order: the second of two swaps at one revision must see the first's result.
    const swapped = this.#turn.then(() => this.#swap(revision, text, bytes, foreign));
    this.#turn = swapped.catch((error: unknown) => error);
    return swapped;
  }

  /** Resolves when every earlier swap has ended, successfully or not. */
  async settled(): Promise<void> {
    await this.#turn;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#turn;
    if (this.#swapsSinceCheckpoint > 0) await this.#checkpoint();
  }

  async #swap(
    revision: number,
    text: string,
    bytes: number,
    foreign: Foreign,
  ): Promise<{ readonly revision: number }> {
    const current = this.#stored?.revision ?? 0;
    if (revision !== current) throw conflict(current);
    const next = current + 1;
    const marks = isForeign(foreign) ? { foreign } : {};
    const marked = isForeign(foreign) ? `"foreign":${canonicalJson(foreign)},` : "";
    const data = `{${marked}"revision":${next},"state":${text}}`;
    const [{ end, salt }] = await this.#journal.append([
      {
        operation: "update",
        kind: "working",
        id: recordId,
        data,
      },
    ]);
    failpoint("working.swap.appended");
    // Parsed again, so that a caller that still has the old object cannot change what is stored.
    this.#stored = { seq: end.seq, salt, revision: next, state: JSON.parse(text) as JsonValue, ...marks };
    this.#swapsSinceCheckpoint += 1;
    this.#bytesSinceCheckpoint += bytes;
    if (
      this.#swapsSinceCheckpoint >= swapsPerCheckpoint ||
      this.#bytesSinceCheckpoint >= bytesPerCheckpoint
    ) {
      await this.#checkpoint();
    }
    return { revision: next };
  }

  /** Only speeds up the next start and readers, because the journal has everything. So a failure is only reported. */
  async #checkpoint(): Promise<void> {
    if (this.#stored === null) return;
    const { seq, salt, revision, state, foreign } = this.#stored;
    const marks = foreign === undefined ? {} : { foreign };
    try {
      const text = canonicalJson({ version: 1, seq, salt, data: { ...marks, revision, state } });
      // After a power cut, the journal must not end before the checkpoint.
      await this.#journal.sync();
      failpoint("working.checkpoint.begun");
      await writeFileAtomically(joinPath(this.#folder, checkpointName), text);
      failpoint("working.checkpoint.done");
      this.#swapsSinceCheckpoint = 0;
      this.#bytesSinceCheckpoint = 0;
    } catch (error) {
      this.#log.warn("The checkpoint of a working memory could not be written.", {
        folder: this.#folder,
        reason: messageOf(error),
      });
    }
  }
}

/** Returns the checkpoint if it is complete and matches the journal's newest record; otherwise null. */
async function readCheckpoint(folder: string, newest: FoundRecord, log: Log): Promise<Stored | null> {
  const bytes = await readSmallFile(joinPath(folder, checkpointName), maxLineBytes);
  if (bytes === null) return null;
  try {
    const read: unknown = JSON.parse(Buffer.from(bytes).toString("utf8"));
    if (isJsonObject(read) && typeof read["seq"] === "number" && read["seq"] < newest.seq) return null;
    if (
      isJsonObject(read) &&
      sha256Hex(canonicalJson({ data: read["data"], salt: newest.salt })) === newest.dataHash
    ) {
      return storedFrom(newest, read["data"]);
    }
  } catch (error) {
    if (!(error instanceof SyntaxError) && !isLaresError(error)) throw error;
  }
  log.warn("The checkpoint of a working memory was damaged; it is recreated from the journal.", { folder });
  return null;
}

/** Throws StorageError for an intact record that no swap can have written, because a whole journal can be forged. */
function storedFrom(record: FoundRecord, data: unknown): Stored {
  const revision = isJsonObject(data) ? data["revision"] : null;
  if (
    !isJsonObject(data) ||
    typeof revision !== "number" ||
    !Number.isSafeInteger(revision) ||
    revision < 1
  ) {
    throw storageError(`The journal's record ${record.seq} of working memory has no state.`);
  }
  const { foreign } = data;
  return {
    seq: record.seq,
    salt: record.salt,
    revision,
    state: (data["state"] ?? null) as JsonValue,
    ...(foreign === undefined ? {} : { foreign: foreign as JsonValue }),
  };
}
