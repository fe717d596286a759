import { Emitter } from "../base/emitter.ts";
import { messageOf, storageError } from "../base/errors.ts";
import { canonicalJson, wellFormed } from "../base/json.ts";
import type { Entry } from "../base/vocabulary/conversation.ts";
import type { Journal } from "../journal/journal.ts";
import type { Part } from "../journal/parts.ts";
import type { RecordInput } from "../journal/record.ts";
import type { Verification } from "../journal/verify.ts";
import type { ConversationFold, ConversationState } from "./fold.ts";
import { type ConversationRow, indexedEntry, type IndexedRecord } from "./indexed.ts";
import { beginningOf, type FoundRecord } from "./log-fold.ts";
import { type LogOptions, openJournal } from "./log-journal.ts";
import {
  audienceOf,
  type ConversationRecord,
  encodeEntry,
  type Header,
  type NewEntry,
  picturesOf,
  searchedText,
  stubOf,
} from "./records.ts";
import { redactedSeqs, replacedRecords } from "./replaced-records.ts";

/** Records of one transaction, where a log is indexed again. */
const indexedAtOnce = 500;

/** One conversation: the only writer of its log, its state, and its part of the index. */
export class ConversationLog implements AsyncDisposable {
  /** Emits entries once the operating system has them, in their order. */
  readonly appended = new Emitter<readonly Entry[]>();
  readonly id: string;
  readonly header: Header;
  /** True if the index was seen to list it since it is open. One that is deleted is closed first, and may be opened for its forks. */
  isListed = false;
  readonly #journal: Journal<ConversationRecord>;
  readonly #fold: ConversationFold;
  readonly #options: LogOptions;
  /** Appends are folded in the order of the log, although large contents are stored before. */
  #turn: Promise<unknown> = Promise.resolve();
  #isIndexed = true;
  /** True while the index stores what came while nothing worked here. */
  #isIndexing = false;

  private constructor(
    options: LogOptions,
    journal: Journal<ConversationRecord>,
    header: Header,
    fold: ConversationFold,
  ) {
    this.id = options.id;
    this.header = header;
    this.#options = options;
    this.#journal = journal;
    this.#fold = fold;
  }

  /** Begins a conversation. Resolves when that is on the disk. */
  static async create(options: LogOptions, header: Header): Promise<ConversationLog> {
    const { journal, found } = await openJournal(options);
    if (found.header !== null) {
      await journal[Symbol.asyncDispose]();
      throw storageError(`The conversation ${options.id} exists already.`);
    }
    const data = canonicalJson(header);
    await journal.append([{ operation: "store", kind: "conversation", id: options.id, data }]);
    await journal.sync();
    const log = new ConversationLog(options, journal, header, beginningOf(header));
    await options.rows.add(log.row, []);
    log.isListed = true;
    return log;
  }

  /** Proves the log and brings the index up to date. StorageError, naming the first bad record, if it is damaged. */
  static async open(options: LogOptions): Promise<ConversationLog> {
    const { journal, found } = await openJournal(options);
    try {
      const { header, fold } = found;
      if (header === null)
        throw storageError(
          `The log of the conversation ${options.id} has no beginning. Restore it, or delete the conversation.`,
        );
      const log = new ConversationLog(options, journal, header, fold);
      // A power cut may have taken entries that the index had already.
      await options.rows.clear(options.id, log.lastSeq);
      await log.#index(found.found);
      await log.#finishRedactions(found.unredacted);
      return log;
    } catch (error) {
      await journal[Symbol.asyncDispose]();
      throw error;
    }
  }

  get state(): Readonly<ConversationState> {
    return this.#fold.state;
  }

  get agent(): string {
    return this.header.agent;
  }

  /** True if the index has what is in the log, or the next kernel will open the log before it is read. */
  get isIndexed(): boolean {
    return this.#isIndexed && !this.#isIndexing;
  }

  get isBroken(): boolean {
    return this.#journal.isBroken;
  }

  /** The seq of the log's last record. */
  get lastSeq(): number {
    return this.#base + this.#journal.end.seq;
  }

  get row(): ConversationRow {
    return {
      id: this.id,
      agent: this.header.agent,
      forkedFrom: this.header.forked_from ?? null,
      state: this.#fold.state,
    };
  }

  /**
   * Appends entries, with nothing between them. Resolves when the operating system has them, and the state has taken
   * them. Rejects as `Journal.append` does; then none is in the log. A function is called when everything before is in the
   * log, and nothing comes between what it saw and what it returns. `pictures`: those of the entries, which they name from
   * then on.
   */
  append(
    entries: readonly NewEntry[] | (() => readonly NewEntry[]),
    pictures: readonly Part[] = [],
  ): Promise<readonly Entry[]> {
    const appended = this.#turn.then(() =>
      this.#append(typeof entries === "function" ? entries() : entries, pictures),
    );
    this.#turn = appended.catch(() => undefined);
    return appended;
  }

  /** Stores a picture; resolves when it is on the disk. Append the entry that names it before it is disposed. */
  keepPicture(bytes: Uint8Array): Promise<Part> {
    return this.#journal.keep(bytes);
  }

  /** Stores the beginning of a process's context, which stays as it is until the next one. Returns the record's seq. */
  storePrefix(process: string, prefix: unknown): Promise<number> {
    const stored = this.#turn.then(async () => {
      const data = canonicalJson(wellFormed({ process, prefix }));
      const stub = (): string => canonicalJson({ process, prefix: null });
      const [seq = 0] = await this.#write([{ kind: "prefix", id: process, data, stub }]);
      const record: IndexedRecord = {
        seq,
        kind: "prefix",
        id: process,
        process,
        audience: process,
        data,
        text: "",
      };
      await this.#toIndex([record]);
      return seq;
    });
    this.#turn = stored.catch(() => undefined);
    return stored;
  }

  /**
   * Appends entries that put others in the place of entries of the log, and removes the data of those. Resolves when it is
   * in no file of the log and of the index; the hashes of the records stay, so the log proves as before. After a crash, or
   * an error, the next opening completes it.
   */
  redact(redactions: readonly NewEntry[]): Promise<readonly Entry[]> {
    const redacted = this.#turn.then(async () => {
      const appended = await this.#append(redactions, []);
      const seqs = appended.flatMap((entry) =>
        entry.kind === "redaction" ? redactedSeqs(entry, this.#base) : [],
      );
      await this.#removeData(seqs);
      if (!this.#isIndexed)
        throw storageError(
          `The texts are gone from the log of the conversation ${this.id}, but not from the index. Start the kernel again: it completes that.`,
        );
      return appended;
    });
    this.#turn = redacted.catch(() => undefined);
    return redacted;
  }

  /** Resolves when everything appended before is on the disk. */
  sync(): Promise<void> {
    return this.#journal.sync();
  }

  verify(signal?: AbortSignal): Promise<Verification> {
    return this.#journal.verify(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#turn;
    await this.#journal[Symbol.asyncDispose]();
  }

  get #base(): number {
    return this.header.forked_from?.seq ?? 0;
  }

  async #append(given: readonly NewEntry[], pictures: readonly Part[]): Promise<readonly Entry[]> {
    if (given.length === 0) return [];
    // Models, agents and extensions may write any text.
    const entries = given.map(wellFormed);
    const seqs = await this.#write(
      entries.map((entry) => {
        const named = picturesOf(entry);
        return {
          kind: "entry" as const,
          id: entry.id,
          data: encodeEntry(entry),
          stub: () => encodeEntry(stubOf(entry)),
          pictures: pictures.filter(({ hash }) => named.has(hash)),
        };
      }),
    );
    const placed = entries.map((entry, index): Entry => ({
      ...entry,
      conversation: this.id,
      seq: seqs[index] ?? 0,
    }));
    const records = placed.flatMap((entry, index) => {
      this.#fold.take(entry);
      return [
        ...replacedRecords(entry, this.#base, this.#fold.state),
        indexedEntry(entry.seq, entries[index] ?? entry, audienceOf(entry, this.#fold.state)),
      ];
    });
    await this.#toIndex(records);
    this.appended.emit(placed);
    const holdsForeign = this.#fold.state.foreign.length > 0;
    this.#options.appended({ header: this.header, entries: placed, holdsForeign });
    return placed;
  }

  async #finishRedactions(unredacted: readonly number[]): Promise<void> {
    await this.#journal.finishRedactions();
    if (unredacted.length === 0) return;
    await this.#removeData(unredacted);
    await this.#options.rows.scrub();
  }

  /** `seqs`: as the conversation counts. */
  async #removeData(seqs: readonly number[]): Promise<void> {
    if (seqs.length === 0) return;
    const named = new Set(seqs.map((seq) => seq - this.#base));
    await this.#journal.redact(({ seq }) => named.has(seq), this.id, "a person had it removed");
  }

  /** Contents that are too long for a line are stored beside the log first. */
  async #write(
    records: readonly {
      readonly kind: ConversationRecord;
      readonly id: string;
      readonly data: string;
      /** Returns what stands in the log if the data is too long for it. */
      stub(): string;
      readonly pictures?: readonly Part[];
    }[],
  ): Promise<readonly number[]> {
    const parts: Part[] = [];
    try {
      const inputs: RecordInput<ConversationRecord>[] = [];
      for (const { kind, id, data, stub, pictures = [] } of records) {
        const part = await this.#journal.keepIfLarge(Buffer.from(data));
        if (part !== null) parts.push(part);
        const named = part === null ? pictures : [part, ...pictures];
        inputs.push({
          operation: "store",
          kind,
          id,
          data: part === null ? data : stub(),
          ...(named.length === 0 ? {} : { parts: named }),
        });
      }
      const written = await this.#journal.append(inputs);
      return written.map(({ end }) => this.#base + end.seq);
    } finally {
      for (const part of parts) part[Symbol.dispose]();
    }
  }

  /**
   * The index follows the log; if it fails, the next opening brings it up to date. Resolves at once while the index knows
   * that a process works here, and otherwise when it has the records: the next kernel opens only logs that were at work,
   * so it would miss entries that clients had seen.
   */
  async #toIndex(records: readonly IndexedRecord[]): Promise<void> {
    if (!this.#isIndexed) return;
    const { stored, wasBusy } = this.#options.rows.addLater(this.row, records);
    const indexed = stored.catch((error: unknown) => {
      if (this.#isIndexed)
        this.#options.log.error(
          `The entries of the conversation ${this.id} could not be indexed: ${messageOf(error)}`,
        );
      // An entry after a gap would hide the gap from the next opening.
      this.#isIndexed = false;
    });
    if (wasBusy) return;
    this.#isIndexing = true;
    await indexed;
    this.#isIndexing = false;
  }

  async #index(found: readonly FoundRecord[]): Promise<void> {
    let records: IndexedRecord[] = [];
    for (const record of found) {
      if (records.length === indexedAtOnce) {
        await this.#options.rows.add(this.row, records);
        records = [];
      }
      const data = record.part === null ? record.data : await this.#readPart(record.part);
      const value = JSON.parse(data) as NewEntry;
      const { seq, kind, process, audience } = record;
      if (kind === "redaction")
        records.push(
          ...replacedRecords({ ...value, seq, conversation: this.id }, this.#base, this.#fold.state),
        );
      records.push({
        seq,
        kind,
        process,
        audience,
        data,
        id: kind === "prefix" ? process : value.id,
        text: kind === "prefix" ? "" : searchedText(value),
      });
    }
    await this.#options.rows.add(this.row, records);
  }

  async #readPart(hash: Parameters<Journal<ConversationRecord>["readPart"]>[0]): Promise<string> {
    const pieces: Uint8Array[] = [];
    for await (const piece of this.#journal.readPart(hash)) pieces.push(piece);
    return Buffer.concat(pieces).toString("utf8");
  }
}
