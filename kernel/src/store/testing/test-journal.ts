import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson, type JsonValue } from "../../base/json.ts";
import { type ChainEnd, chainStart, type RecordKind, recordKinds } from "../../memory-contract/records.ts";
import { encodeRecord, redactedLine, RecordForm, type RecordInput } from "../../journal/record.ts";
import type { StoreMemory } from "../../memory-contract/store-port.ts";

const form = new RecordForm(recordKinds);

export const beginningMs = Date.parse("2026-03-01T00:00:00.000Z");

interface TestEvent {
  readonly variant?: string;
  readonly data?: JsonValue;
  /** Default: a second after the previous one. */
  readonly timestampMs?: number;
}

/** A journal on the disk, as the kernel writes it, and the memory it belongs to, as requests name it. */
export class TestJournal {
  readonly folder: string;
  readonly key: string;
  end: ChainEnd = chainStart;
  rewrites = 0;
  readonly #recordsPerSegment: number;

  /** In a folder for that key beneath `stateFolder`. */
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

  /** Appends records. */
  append(...inputs: readonly RecordInput<RecordKind>[]): void {
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
      ...Array.from({ length: count }, (_, index): RecordInput<RecordKind> => {
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

  /** Redacts these records as the kernel does: a redact record, then the segments without the data. */
  redact(kind: RecordKind, id: string, seqs: readonly number[]): void {
    const named = new Set(seqs);
    const ranges = seqs.map((seq) => [seq, seq]);
    this.append({ operation: "redact", kind, id, data: canonicalJson({ reason: "told to", seqs: ranges }) });
    for (const path of this.segments()) {
      const lines = readFileSync(path, "utf8").split("\n").slice(0, -1);
      const left = lines.map((text) => {
        const line = Buffer.from(text);
        const head = form.readHead(line);
        return head !== null && named.has(head.seq) ? redactedLine(line, head) : line;
      });
      writeFileSync(path, left.map((line) => `${line.toString()}\n`).join(""));
    }
    this.rewrites += named.size;
  }

  segments(): string[] {
    const { journalFolder } = this.memory;
    return readdirSync(journalFolder)
      .toSorted()
      .map((name) => join(journalFolder, name));
  }

  /** Replaces the journal with another one. */
  startAnew(): void {
    for (const path of this.segments()) rmSync(path);
    this.end = chainStart;
  }
}
