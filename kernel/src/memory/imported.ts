import type { Clock } from "../base/clock.ts";
import { isLaresError, storageError } from "../base/errors.ts";
import { isJsonObject, type JsonValue } from "../base/json.ts";
import { OneAtATime } from "../base/one-at-a-time.ts";
import { joinPath } from "../platform/files/data-files.ts";
import type { ReadableMemory } from "./agent-memory.ts";
import { forEachLine, parsed, readLineBlocks } from "../journal/lines.ts";
import type { DecodedRecord } from "../journal/record.ts";
import { RedactionProof } from "../journal/redaction.ts";
import { memoryRecords } from "./records.ts";
import { askerOf } from "./store-view.ts";
import type { Store } from "../memory-contract/store-port.ts";
import type { StoreSettings } from "../memory-contract/store-settings.ts";
import { type ChainEnd, chainStart } from "../memory-contract/records.ts";
import { findSegments, type Segment } from "../memory-contract/segments.ts";
import type { WorkingState } from "./working.ts";

interface ImportedMemoriesOptions {
  /** Projections of what is imported lie beneath it. */
  readonly stateFolder: string;
  readonly store: Store;
  readonly clock: Clock;
  settings(): StoreSettings;
  /** The state folder of another workspace; it need not exist. */
  otherStateFolder(workspace: string): Promise<string>;
}

/** Shared memories of other workspaces, whose kernels may be writing them: only read, and seen a little later. */
export class ImportedMemories {
  readonly #options: ImportedMemoriesOptions;
  readonly #open = new Map<string, ImportedMemory>();

  constructor(options: ImportedMemoriesOptions) {
    this.#options = options;
  }

  /** With what its journal has now. StorageError where that is not as it was written. */
  async open(name: string, workspace: string): Promise<ReadableMemory> {
    const source = await this.#options.otherStateFolder(workspace);
    const known = this.#open.get(name);
    const memory = known?.source === source ? known : new ImportedMemory(name, source, this.#options);
    this.#open.set(name, memory);
    await memory.follow();
    return memory.readable;
  }
}

/** How far a journal has been followed. */
interface Place {
  /** Index of the segment, and the bytes of it that were read. */
  readonly segment: number;
  readonly offset: number;
  readonly end: ChainEnd;
}

const beginning: Place = { segment: 0, offset: 0, end: chainStart };

class ImportedMemory {
  readonly source: string;
  readonly readable: ReadableMemory;
  readonly #journalFolder: string;
  readonly #turns = new OneAtATime();
  #place = beginning;
  /** Its writer's anchor is not at hand: all that was ever named may still be on its way. */
  #redactions = new RedactionProof(0);
  /** How often it was written anew, as far as that was noticed. */
  #rewrites = 0;
  #working: WorkingState = { revision: 0, state: null };

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
      // It has nothing of its own that could wait for the disk.
      sync: () => Promise.resolve(),
    };
  }

  /** Reads on from where it was; from the root where what it has read is no longer what stands there. */
  follow(): Promise<void> {
    return this.#turns.run("follow", async () => {
      const segments = await findSegments(this.#journalFolder);
      const isShorter = (segments[this.#place.segment]?.size ?? 0) < this.#place.offset;
      if (!isShorter && (await this.#readOn(segments))) return;
      this.#place = beginning;
      this.#redactions = new RedactionProof(0);
      this.#rewrites += 1;
      if (await this.#readOn(await findSegments(this.#journalFolder))) return;
      throw storageError(
        `The imported memory's journal in "${this.#journalFolder}" is damaged after seq ${this.#place.end.seq}. It is read again when it is next asked.`,
      );
    });
  }

  /** False where a record does not follow the one before it. */
  async #readOn(segments: readonly Segment[]): Promise<boolean> {
    for (let index = this.#place.segment; index < segments.length; index++) {
      const segment = segments[index];
      if (segment === undefined) break;
      const start = index === this.#place.segment ? this.#place.offset : 0;
      if (!(await this.#readSegment(segment, index, start))) return false;
    }
    // What names a record is on the disk before its data is gone: unless somebody else took it.
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
          if (record.kind === "working" && !record.isRedacted && record.operation !== "redact")
            this.#working = workingState(parsed(dataOf(record)));
        });
        if (!isWhole) return false;
      }
    } catch (error) {
      // Its kernel may put another file in its place meanwhile.
      if (!isLaresError(error, "StorageError")) throw error;
      return false;
    }
    return true;
  }
}

function workingState(data: unknown): WorkingState {
  if (!isJsonObject(data) || typeof data["revision"] !== "number") return { revision: 0, state: null };
  return { revision: data["revision"], state: (data["state"] ?? null) as JsonValue };
}
