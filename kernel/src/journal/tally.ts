import type { RecordOperation } from "../memory-contract/records.ts";
import type { RecordHead } from "./record.ts";

interface Sum {
  records: number;
  bytes: number;
}

/** By kind and operation, separated by a space. */
export type SavedTally = readonly (readonly [name: string, records: number, bytes: number])[];

/** Counts the records that still have their data by kind and operation, and the bytes of their lines. */
export class Tally<Kind extends string> {
  readonly #sums = new Map<string, Sum>();

  constructor(saved: SavedTally = []) {
    for (const [name, records, bytes] of saved) this.#sums.set(name, { records, bytes });
  }

  save(): SavedTally {
    return [...this.#sums].map(([name, { records, bytes }]) => [name, records, bytes]);
  }

  add({ kind, operation }: Pick<RecordHead<Kind>, "kind" | "operation">, bytes: number): void {
    const name = `${kind} ${operation}`;
    const sum = this.#sums.get(name);
    if (sum === undefined) {
      this.#sums.set(name, { records: 1, bytes });
    } else {
      sum.records += 1;
      sum.bytes += bytes;
    }
  }

  subtract(other: Tally<Kind>): void {
    for (const [name, { records, bytes }] of other.#sums) {
      const sum = this.#sums.get(name);
      if (sum === undefined) continue;
      sum.records -= records;
      sum.bytes -= bytes;
    }
  }

  records(kind: Kind, operation: RecordOperation): number {
    return this.#sums.get(`${kind} ${operation}`)?.records ?? 0;
  }

  bytes(kind: Kind, operation: RecordOperation): number {
    return this.#sums.get(`${kind} ${operation}`)?.bytes ?? 0;
  }

  /** Returns how many of a kind were stored and not deleted, by records that still have their data. */
  stored(kind: Kind): number {
    return this.records(kind, "store") - this.records(kind, "delete");
  }
}
