import type { Clock } from "../base/clock.ts";
import { isLaresError, storageError } from "../base/errors.ts";
import { isJsonObject, type JsonValue } from "../base/json.ts";
import { type Foreign, nothingForeign } from "../base/vocabulary/foreign.ts";
import { OneAtATime } from "../base/one-at-a-time.ts";
import { joinPath } from "../platform/files/data-files.ts";
import type { ReadableMemory } from "./agent-memory.ts";
import { forEachLine, parsed, readLineBlocks } from "../journal/lines.ts";
import type { DecodedRecord } from "../journal/record.ts";
import { RedactionProof } from "../journal/redaction.ts";
import { memoryRecords } from "./records/kinds.ts";
import { RecordMarks } from "./records/marks.ts";
import { askerOf } from "./store-view.ts";
import type { Store } from "../memory-contract/store-port.ts";
import type { StoreSettings } from "../memory-contract/store-settings.ts";
import { type ChainEnd, chainStart } from "../memory-contract/records.ts";
import { findSegments, type Segment } from "../memory-contract/segments.ts";
import type { WorkingState } from "./working.ts";

interface ImportedMemoriesOptions {
  /** The projections of imported memories are stored beneath it. */
  readonly stateFolder: string;
  readonly store: Store;
  readonly clock: Clock;
  settings(): StoreSettings;
  /** Returns the state folder of another workspace, which need not exist. */
  otherStateFolder(workspace: string): Promise<string>;
}

/** Shared memories of other workspaces. They are only read, with a short delay, while their kernels may be writing. */
export class ImportedMemories {
  readonly #options: ImportedMemoriesOptions;
  readonly #open = new Map<string, ImportedMemory>();

  constructor(options: ImportedMemoriesOptions) {
    this.#options = options;
  }

  /** Opens the current content of the journal. Throws StorageError if that is not what was written. */
  async open(name: string, workspace: string): Promise<ReadableMemory> {
    const source = await this.#options.otherStateFolder(workspace);
    const known = this.#open.get(name);
    const memory = known?.source === source ? known : new ImportedMemory(name, source, this.#options);
    this.#open.set(name, memory);
    await memory.follow();
    return memory.readable;
  }

  /**
   * Returns what records of a memory hold of texts that nobody vouches for, as far as it was read: of these ids, of the
   * working memory, or all.
   */
  foreignIn(name: string, read: readonly string[] | "plan" | "all"): Foreign {
    return this.#open.get(name)?.foreignIn(read) ?? nothingForeign;
  }
}

/** How far a journal has been read. */
interface Place {
  /** Index of the segment, and the number of its bytes that were read. */
  readonly segment: number;
  readonly offset: number;
  readonly end: ChainEnd;
}

const beginning: Place = { segment: 0, offset: 0, end: chainStart };

class ImportedMemory {
  readonly source: string;
  readonly readable: ReadableMemory;
  readonly #journalFolder: string;
  /** Only readers wait for it, and each of them is bounded elsewhere. */
  readonly #turns = new OneAtATime();
  #place = beginning;
  /** The writer's anchor is not available here, so any redaction may still be under way. */
  #redactions = new RedactionProof(0);
  /** How often a rewrite of the journal was noticed. */
  #rewrites = 0;
  #working: WorkingState = { revision: 0, state: null };
  #marks = new RecordMarks();

  constructor(
    name: string,
    source: string,
    { stateFolder, store, clock, settings }: ImportedMemoriesOptions,
  ) {
    this.source = source;
    this.#journalFolder = joinPath(source, "namespaces", name, "memory", "journal");
    const journalFolder = this.#journalFolder;
    const end = (): ChainEnd => this.#place.end;
    const rewrites = (): number => this.#rewrites;
    const ask = askerOf(store, {
      key: `import/${name}`,
      folder: joinPath(stateFolder, "imports", name),
      journalFolder,
      get end() {
        return end();
      },
      get rewrites() {
        return rewrites();
      },
      get settings() {
        return settings();
      },
    });
    this.readable = {
      read: () => this.#working,
      queryEvents: (query, signal) => ask("temporal.query", { query, nowMs: clock.now() }, signal),
      countEvents: (query, signal) => ask("temporal.count", { query, nowMs: clock.now() }, signal),
      queryKnowledge: (query, signal) => ask("knowledge.query", { query, nowMs: clock.now() }, signal),
      search: (query, signal) => ask("search", { query, nowMs: clock.now() }, signal),
      // It writes nothing of its own that would have to reach the disk.
      sync: () => Promise.resolve(),
    };
  }

  foreignIn(read: readonly string[] | "plan" | "all"): Foreign {
    return this.#marks.of(read);
  }

  /** Continues reading; starts over if the part that was read has changed. */
  follow(): Promise<void> {
    return this.#turns.run("follow", async () => {
      const segments = await findSegments(this.#journalFolder);
      const isShorter = (segments[this.#place.segment]?.size ?? 0) < this.#place.offset;
      if (!isShorter && (await this.#readOn(segments))) return;
      this.#place = beginning;
      this.#redactions = new RedactionProof(0);
      this.#rewrites += 1;
      this.#marks = new RecordMarks();
      if (await this.#readOn(await findSegments(this.#journalFolder))) return;
      throw storageError(
        `The imported memory's journal in "${this.#journalFolder}" is damaged after seq ${this.#place.end.seq}. It is read again with the next request.`,
      );
    });
  }

  /** Returns false if a record does not follow the one before it. */
  async #readOn(segments: readonly Segment[]): Promise<boolean> {
    for (let index = this.#place.segment; index < segments.length; index++) {
      const segment = segments[index];
      if (segment === undefined) break;
      const start = index === this.#place.segment ? this.#place.offset : 0;
      if (!(await this.#readSegment(segment, index, start))) return false;
    }
    // The record that names a redaction is on the disk before the data is removed; otherwise another program removed
    // it.
    return this.#redactions.unnamed === null;
  }

  async #readSegment({ path, size }: Segment, index: number, start: number): Promise<boolean> {
    let isWhole = true;
    try {
      for await (const block of readLineBlocks(path, start, size)) {
        // Its writer may be in the middle of a line.
        if (!block.isWhole) break;
        forEachLine(block, (line, offset) => {
          const record = memoryRecords.decode(line, this.#place.end);
          const dataOf = (from: DecodedRecord): string => line.toString("utf8", from.dataStart, from.dataEnd);
          if (typeof record === "string" || this.#redactions.follow(record, () => dataOf(record)) !== null) {
            isWhole = false;
            return "stop";
          }
          this.#place = { segment: index, offset: offset + line.length + 1, end: record.end };
          if (record.isRedacted || record.operation === "redact") return;
          const isMarked = line.includes(mark, record.dataStart);
          if (record.kind !== "working" && !isMarked) return;
          const data = parsed(dataOf(record));
          if (record.kind === "working") this.#working = workingState(data);
          this.#marks.add(record.kind, idIn(record.idText), data);
        });
        if (!isWhole) return false;
      }
    } catch (error) {
      // The writing kernel may have replaced the file meanwhile.
      if (!isLaresError(error, "StorageError")) throw error;
      return false;
    }
    return true;
  }
}

function idIn(idText: string): string {
  return String(parsed(Buffer.from(idText, "latin1").toString("utf8")));
}

const mark = Buffer.from('"foreign":');

function workingState(data: unknown): WorkingState {
  if (!isJsonObject(data) || typeof data["revision"] !== "number") return { revision: 0, state: null };
  return { revision: data["revision"], state: (data["state"] ?? null) as JsonValue };
}
