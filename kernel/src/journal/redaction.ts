import { isJsonObject } from "../base/json.ts";
import type { Redacted } from "../memory-contract/records.ts";
import { parsed } from "./lines.ts";
import type { RecordHead } from "./record.ts";
import { SeqSet } from "./seq-set.ts";

type SeqRange = Redacted["seqs"][number];

/** Ranges that one redact record may name, so that its line stays far below the limit. */
export const maxRangesPerRecord = 10_000;

/**
 * Tracks, during a proof, which records are redacted and which redact records name them. Uses a few bits per
 * record, and none before the first redaction.
 */
export class RedactionProof {
  /** Redact records up to this seq are known to have been carried out. */
  readonly #carriedOut: number;
  readonly #redacted = new SeqSet();
  /** Records that must not be named (again): the named ones, and the redact records themselves. */
  readonly #named = new SeqSet();
  /** Named records that still have their data, because of a crash in between. */
  readonly pending = new SeqSet();
  /** Seq of the last redact record; 0 if there is none. */
  lastRedact = 0;
  #restored: { readonly seq: number; readonly by: number } | null = null;

  constructor(carriedOut: number) {
    this.#carriedOut = carriedOut;
  }

  /** The number of records without data. */
  get count(): number {
    return this.#redacted.size;
  }

  /** Adds a record. Calls `data` for a redact record. Returns a string that says what is wrong with it, or null. */
  follow(record: RecordHead, data: () => string): string | null {
    if (record.isRedacted) this.#redacted.add(record.seq);
    if (record.operation !== "redact") return null;
    const seqs = rangesIn(parsed(data()));
    if (seqs === null) return "it does not say which records it redacts";
    let before = 0;
    for (const [first, last] of seqs) {
      if (first <= before || last < first || last >= record.seq)
        return "it names records that it cannot redact";
      before = last;
      for (let seq = first; seq <= last; seq++) {
        if (!this.#named.add(seq)) return `it redacts seq ${seq}, which cannot be redacted, or was already`;
        if (!this.#redacted.has(seq)) this.#unfinished(seq, record.seq);
      }
    }
    this.#named.add(record.seq);
    this.lastRedact = record.seq;
    return null;
  }

  #unfinished(seq: number, by: number): void {
    if (by > this.#carriedOut) this.pending.add(seq);
    else if (this.#restored === null || seq < this.#restored.seq) this.#restored = { seq, by };
  }

  /** Returns the first record that has its data although its redaction was carried out. */
  get restored(): { readonly seq: number; readonly reason: string } | null {
    if (this.#restored === null) return null;
    const { seq, by } = this.#restored;
    return { seq, reason: `it was redacted by seq ${by}, but has its data again` };
  }

  /** Returns, at the journal's end, the first record without data that no redact record names. */
  get unnamed(): { readonly seq: number; readonly reason: string } | null {
    const seq = this.#redacted.next(1, (seq) => !this.#named.has(seq));
    return seq === null
      ? null
      : { seq, reason: "its data is gone, and no later record says that it was redacted" };
  }
}

/** Returns the ranges in a redact record's data; null if the data is invalid. */
export function rangesIn(read: unknown): readonly SeqRange[] | null {
  if (!isJsonObject(read) || typeof read["reason"] !== "string" || !Array.isArray(read["seqs"])) return null;
  const seqs: readonly unknown[] = read["seqs"];
  return seqs.length > 0 && seqs.every(isRange) ? seqs : null;
}

function isRange(value: unknown): value is SeqRange {
  return (
    Array.isArray(value) && value.length === 2 && value.every((seq) => Number.isSafeInteger(seq) && seq > 0)
  );
}
