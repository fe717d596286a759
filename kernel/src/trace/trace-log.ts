import type { Clock } from "../base/clock.ts";
import { Emitter } from "../base/emitter.ts";
import { messageOf } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import type { TraceEntry, TraceQuery } from "../base/vocabulary/trace.ts";
import type { DataFile } from "../platform/files/data-files.ts";
import { type Taken, TraceBuffer } from "./buffer.ts";
import { type NewTraceEntry, storedEntry } from "./entry.ts";
import { currentName, dayOf, type RotatedFile, TraceFiles } from "./files.ts";
import { type CompiledQuery, compileQuery, maxAnswerBytes } from "./query.ts";
import { readLinesBackwards } from "./read-backwards.ts";
import { traceRemover } from "./redact-lines.ts";
import type { Redact } from "./redacted-text.ts";

/** The structured log of what agents did. */
export interface TraceLog extends AsyncDisposable {
  /** Never throws and never waits. Entries over the buffer's limit are dropped, least important first, and counted. */
  write(entry: NewTraceEntry): void;
  /**
   * Returns entries, newest first, up to `maxAnswerBytes`; for older ones, query again with the last entry's time as
   * `until`. Includes everything written before. Rejects with InvalidParams for a time that cannot be parsed.
   */
  query(query: TraceQuery): Promise<TraceEntry[]>;
  /** Emits each entry as stored, at once. */
  readonly entries: Emitter<TraceEntry>;
  /** Removes texts from all entries. Returns the number of entries that had one. */
  redact(texts: readonly string[]): Promise<number>;
  /** Resolves when everything written before has been handed to the operating system. */
  flush(): Promise<void>;
}

export interface TraceLogOptions {
  /** Holds `current.log` and one file per day; created if missing. */
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly keepDays: number;
  readonly redact: Redact;
  readonly maxFileBytes?: number;
  readonly maxFiles?: number;
}

/** A file larger than this is followed by another one for the same day. */
const defaultMaxFileBytes = 32 * 1024 * 1024;
/**
 * The number of finished files that are kept, whatever their days; with the size of one, this bounds how much disk
 * space a chatty agent can use.
 */
const defaultMaxFiles = 32;
/** How long an entry waits to be written together with others. */
const maxDelayMs = 50;
/** How long after a failure writing is retried, unless a caller asks earlier. */
const retryMs = 1000;
/** From this length, waiting entries are written without delay. */
const eagerLength = 64 * 1024;
/** The agent name of the log's own entries. */
const ownAgent = "lares";

export async function openTraceLog(options: TraceLogOptions): Promise<TraceLog> {
  const files = await TraceFiles.open(options.folder, options.clock.now());
  await files.expire(options.clock.now(), options.keepDays, options.maxFiles ?? defaultMaxFiles);
  const traces = new FileTraceLog(options, files);
  if (files.aside !== null) {
    options.log.warn(`The trace log was not a file; it was renamed to ${files.aside}.`);
    traces.write({
      level: "warn",
      agent: ownAgent,
      message: `traces/${currentName} was not a file; it was renamed, and a new file was started`,
      fields: { moved: files.aside },
      trace_id: newId(),
      span_id: newId(),
    });
  }
  return traces;
}

class FileTraceLog implements TraceLog {
  readonly entries = new Emitter<TraceEntry>();
  readonly #options: TraceLogOptions;
  readonly #files: TraceFiles;
  readonly #redact: Redact;
  readonly #buffer = new TraceBuffer();
  #timer: Disposable | null = null;
  /** Serializes everything that touches the files. */
  #turn: Promise<unknown> = Promise.resolve();
  #flushWaits = false;
  /** True if the last attempt to write failed. */
  #isFailing = false;
  #isClosed = false;

  constructor(options: TraceLogOptions, files: TraceFiles) {
    this.#options = options;
    this.#files = files;
    this.#redact = options.redact;
  }

  write(entry: NewTraceEntry): void {
    if (this.#isClosed) return;
    const stored = storedEntry(entry, this.#options.clock.now(), this.#redact);
    this.#buffer.add(stored.level, `${JSON.stringify(stored)}\n`);
    if (this.#buffer.length >= eagerLength && !this.#isFailing) this.#flushBehind();
    else this.#timer ??= this.#options.clock.timer(maxDelayMs, () => this.#flushBehind());
    this.entries.emit(stored);
  }

  flush(): Promise<void> {
    this.#timer?.[Symbol.dispose]();
    this.#timer = null;
    return this.#inTurn(() => this.#flush());
  }

  redact(texts: readonly string[]): Promise<number> {
    const remover = traceRemover(texts);
    return this.#inTurn(async () => {
      await this.#flush();
      return await this.#files.rewrite(
        (bytes) => remover.isIn(bytes),
        (line) => remover.from(line),
      );
    });
  }

  async query(query: TraceQuery): Promise<TraceEntry[]> {
    const compiled = compileQuery(query, this.#options.clock.now());
    const { current, rotated, unwritten } = await this.#inTurn(async () => {
      // The query is answered even if the disk refuses the write.
      await this.#flush().catch((error: unknown) => this.#reportFailure(error));
      const unwritten = this.#buffer.newestFirst();
      // Opened now, before the next rotation can rename it.
      const current = await this.#files.openForReading(currentName);
      return { current, rotated: await this.#files.rotated(), unwritten };
    });
    const answer = new Answer(compiled);
    for (const line of unwritten) answer.take(line);
    try {
      await collect(current, answer);
    } finally {
      await current[Symbol.asyncDispose]();
    }
    for (const file of rotated) {
      if (answer.isFull) break;
      if (!mayHold(file, compiled)) continue;
      await using reading = await this.#files.openIfThere(file.name);
      if (reading !== null) await collect(reading, answer);
    }
    return answer.entries;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      await this.flush();
    } finally {
      await this.#inTurn(() => this.#files[Symbol.asyncDispose]());
    }
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(run);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  #flushBehind(): void {
    // A waiting flush also writes the entries that arrive meanwhile.
    if (this.#flushWaits) return;
    this.#flushWaits = true;
    this.flush().catch((error: unknown) => this.#reportFailure(error));
  }

  #reportFailure(error: unknown): void {
    // Logged once, because writing keeps failing until there is room.
    if (!this.#isFailing)
      this.#options.log.error("Traces could not be written; as many as possible are kept for a retry.", {
        folder: this.#options.folder,
        reason: messageOf(error),
      });
    this.#isFailing = true;
    if (!this.#isClosed) this.#timer ??= this.#options.clock.timer(retryMs, () => this.#flushBehind());
  }

  async #flush(): Promise<void> {
    this.#flushWaits = false;
    const taken = this.#buffer.take();
    if (taken.text === "" && taken.dropped === null) return;
    try {
      await this.#write(taken);
      this.#isFailing = false;
    } catch (error) {
      taken.putBack();
      throw error;
    }
  }

  async #write({ text, dropped }: Taken): Promise<void> {
    const nowMs = this.#options.clock.now();
    if (
      dayOf(nowMs) !== this.#files.day ||
      this.#files.size >= (this.#options.maxFileBytes ?? defaultMaxFileBytes)
    ) {
      await this.#files.rotate(nowMs);
      await this.#files.expire(nowMs, this.#options.keepDays, this.#options.maxFiles ?? defaultMaxFiles);
    }
    await this.#files.append(Buffer.from(dropped === null ? text : this.#droppedLine(dropped, nowMs) + text));
  }

  #droppedLine(dropped: Readonly<Record<string, number>>, nowMs: number): string {
    const count = Object.values(dropped).reduce((sum, one) => sum + one, 0);
    const message = `${count} entries were dropped, because the disk could not keep up`;
    const entry: NewTraceEntry = {
      level: "warn",
      agent: ownAgent,
      message,
      fields: { dropped },
      trace_id: newId(),
      span_id: newId(),
    };
    return `${JSON.stringify(storedEntry(entry, nowMs, this.#redact))}\n`;
  }
}

/** The newest matching entries, up to the requested number and `maxAnswerBytes`. */
class Answer {
  readonly entries: TraceEntry[] = [];
  readonly #query: CompiledQuery;
  #bytes = 0;
  #isFull: boolean;

  constructor(query: CompiledQuery) {
    this.#query = query;
    this.#isFull = query.limit === 0;
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  take(line: string): void {
    if (this.#isFull) return;
    const entry = this.#query.match(line);
    if (entry === null) return;
    if (entry === "past") {
      this.#isFull = true;
      return;
    }
    this.#bytes += Buffer.byteLength(line);
    // A single entry is far smaller, so there is always at least one.
    if (this.#bytes <= maxAnswerBytes) this.entries.push(entry);
    this.#isFull = this.#bytes >= maxAnswerBytes || this.entries.length >= this.#query.limit;
  }
}

async function collect(file: DataFile, answer: Answer): Promise<void> {
  if (answer.isFull) return;
  for await (const line of readLinesBackwards(file)) {
    answer.take(line);
    if (answer.isFull) return;
  }
}

/** An entry is written on its day, or just after the midnight that ends it. */
function mayHold({ day }: RotatedFile, { since, until }: CompiledQuery): boolean {
  if (since !== null && day < since.slice(0, 10)) return false;
  return until === null || day <= dayOf(Date.parse(until) + 86_400_000);
}
