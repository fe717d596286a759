import type { RecordHead, RecordKind, RecordOperation } from "./record.ts";

interface Sum {
  records: number;
  bytes: number;
}

/** What a person is told of a memory. */
export interface StoredCounts {
  readonly temporalEvents: number;
  readonly knowledgeItems: number;
}

/** How many records there are of each sort that still have their data, and how many bytes their lines have. */
export class Tally {
  readonly #sums = new Map<string, Sum>();

  add({ kind, operation }: Pick<RecordHead, "kind" | "operation">, bytes: number): void {
    const name = `${kind} ${operation}`;
    const sum = this.#sums.get(name);
    if (sum === undefined) {
      this.#sums.set(name, { records: 1, bytes });
    } else {
      sum.records += 1;
      sum.bytes += bytes;
    }
  }

  subtract(other: Tally): void {
    for (const [name, { records, bytes }] of other.#sums) {
      const sum = this.#sums.get(name);
      if (sum === undefined) continue;
      sum.records -= records;
      sum.bytes -= bytes;
    }
  }

  records(kind: RecordKind, operation: RecordOperation): number {
    return this.#sums.get(`${kind} ${operation}`)?.records ?? 0;
  }

  bytes(kind: RecordKind, operation: RecordOperation): number {
    return this.#sums.get(`${kind} ${operation}`)?.bytes ?? 0;
  }

  get counts(): StoredCounts {
    return { temporalEvents: this.stored("temporal"), knowledgeItems: this.stored("knowledge") };
  }

  /** What was stored of a kind and not deleted, by records that still have their data. */
  stored(kind: RecordKind): number {
    return this.records(kind, "store") - this.records(kind, "delete");
  }
}
