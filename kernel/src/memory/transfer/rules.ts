import { isJsonObject } from "../../base/json.ts";
import { sha256Sum } from "../../platform/files/hash.ts";
import { rangesIn } from "../../journal/redaction.ts";
import { retentionId } from "../records/kinds.ts";
import type { RecordKind, RecordOperation } from "../../memory-contract/records.ts";
import { SeqSet } from "../../journal/seq-set.ts";

/** The part of a record that is checked against the records before it. */
export interface CheckedRecord {
  readonly kind: RecordKind;
  readonly operation: RecordOperation;
  readonly id: string;
  /** Undefined if the record is redacted. */
  readonly data: unknown;
}

const kindCodes: Readonly<Record<RecordKind, number>> = { temporal: 1, knowledge: 2, working: 3, policy: 4 };
const idBytes = 8;

/**
 * Checks what each record of a journal says against the records before it. A chain with correct hashes can still
 * name missing records, or hold a state from which no later kernel can continue. Uses nine bytes per record.
 */
export class RecordRules {
  #records = 0;
  #kinds = new Uint8Array(1024);
  #ids = new Uint8Array(1024 * idBytes);
  readonly #named = new SeqSet();
  #swaps = 0;
  #newestState: { readonly seq: number; readonly revision: number } | null = null;

  /** Returns what is wrong with the next record; null if nothing is. */
  broken(record: CheckedRecord): string | null {
    const seq = ++this.#records;
    this.#keep(seq, record);
    if (record.operation === "redact") return this.#redaction(seq, record);
    return record.kind === "working" ? this.#state(seq, record) : null;
  }

  #keep(seq: number, { kind, operation, id }: CheckedRecord): void {
    if (seq >= this.#kinds.length) {
      const [kinds, ids] = [new Uint8Array(seq * 2), new Uint8Array(seq * 2 * idBytes)];
      kinds.set(this.#kinds);
      ids.set(this.#ids);
      [this.#kinds, this.#ids] = [kinds, ids];
    }
    // Redact records and policies are never redacted, so they need no kind.
    this.#kinds[seq] = operation === "redact" ? 0 : kindCodes[kind];
    this.#ids.set(digestOf(id), seq * idBytes);
  }

  #redaction(by: number, { kind, id, data }: CheckedRecord): string | null {
    const ranges = rangesIn(data);
    if (ranges === null || kind === "policy") return `record ${by} does not say what it redacts`;
    const isByAge = id === retentionId && kind !== "knowledge";
    if (kind === "working" && !isByAge) return `record ${by} redacts states as no kernel does`;
    const wanted = digestOf(id);
    for (const [first, last] of ranges) {
      if (last < first || last >= by)
        return `record ${by} redacts records ${first} to ${last}, which are not before it`;
      for (let seq = first; seq <= last; seq++) {
        if (!this.#named.add(seq)) return `record ${by} redacts record ${seq}, which was already`;
        if (this.#kinds[seq] !== kindCodes[kind])
          return `record ${by} redacts record ${seq} as ${kind}, which is of another kind`;
        if (!isByAge && wanted.some((byte, at) => this.#ids[seq * idBytes + at] !== byte))
          return `record ${by} redacts record ${seq} under an id that is not its own`;
        if (seq === this.#newestState?.seq) return `record ${by} redacts record ${seq}, the newest state`;
      }
    }
    return null;
  }

  #state(seq: number, { operation, id, data }: CheckedRecord): string | null {
    if (operation !== "update" || id !== "working") return `record ${seq} is not a state of working memory`;
    this.#swaps += 1;
    if (data === undefined) return null;
    const revision = isJsonObject(data) ? data["revision"] : null;
    const isNext =
      typeof revision === "number" &&
      Number.isSafeInteger(revision) &&
      revision > (this.#newestState?.revision ?? 0) &&
      revision <= this.#swaps;
    if (!isNext) return `record ${seq} holds no state that could follow the one before it`;
    this.#newestState = { seq, revision };
    return null;
  }
}

function digestOf(id: string): Uint8Array {
  return sha256Sum().update(Buffer.from(id)).digest().subarray(0, idBytes);
}
