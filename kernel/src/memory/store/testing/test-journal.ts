import { appendFileSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson, type JsonValue } from "../../../base/json.ts";
import { type ChainEnd, chainStart, encodeRecord, type RecordInput } from "../../journal/record.ts";
import type { StoreMemory } from "../port.ts";

export const beginningMs = Date.parse("2026-03-01T00:00:00.000Z");

export interface TestEvent {
  readonly variant?: string;
  readonly data?: JsonValue;
  /** Default: a second after the one before it. */
  readonly timestampMs?: number;
}

/** A journal on the disk, as the kernel writes it; and the memory it belongs to, as requests name it. */
export class TestJournal {
  readonly folder: string;
  readonly key: string;
  end: ChainEnd = chainStart;
  rewrites = 0;
  readonly #recordsPerSegment: number;

  /** In a folder of that key's own beneath `stateFolder`. */
  constructor(stateFolder: string, key = "extension/dev.lares.test", recordsPerSegment = 1_000_000) {
    this.key = key;
    this.folder = join(stateFolder, key, "memory");
    this.#recordsPerSegment = recordsPerSegment;
    mkdirSync(join(this.folder, "journal"), { recursive: true });
  }

  get memory(): StoreMemory {
    return {
      key: this.key,
      folder: this.folder,
      journalFolder: join(this.folder, "journal"),
      end: this.end,
      rewrites: this.rewrites,
      settings: { vectors: "exact", embedder: { kind: "hash", dimensions: 64 }, maxVectors: 1000 },
    };
  }

  /** Writes records at its end. */
  append(...inputs: readonly RecordInput[]): void {
    const texts = new Map<string, string>();
    for (const input of inputs) {
      const record = encodeRecord(input, this.end, "5a".repeat(16), beginningMs + this.end.seq);
      const segment = Math.floor(this.end.seq / this.#recordsPerSegment) + 1;
      const name = `${String(segment).padStart(6, "0")}.ndjson`;
      texts.set(name, (texts.get(name) ?? "") + record.line);
      this.end = record.end;
    }
    for (const [name, text] of texts) appendFileSync(join(this.memory.journalFolder, name), text);
  }

  appendEvents(count: number, event: (n: number) => TestEvent = () => ({})): void {
    this.append(
      ...Array.from({ length: count }, (_, index): RecordInput => {
        const seq = this.end.seq + index + 1;
        const { variant = "noted", data = { n: seq }, timestampMs = beginningMs + seq * 1000 } = event(seq);
        const timestamp = new Date(timestampMs).toISOString();
        return {
          operation: "store",
          kind: "temporal",
          id: `event-${seq}`,
          data: canonicalJson({ variant, timestamp, data }),
        };
      }),
    );
  }

  segments(): string[] {
    const { journalFolder } = this.memory;
    return readdirSync(journalFolder)
      .toSorted()
      .map((name) => join(journalFolder, name));
  }

  /** Another journal takes its place. */
  startAnew(): void {
    for (const path of this.segments()) rmSync(path);
    this.end = chainStart;
  }
}
