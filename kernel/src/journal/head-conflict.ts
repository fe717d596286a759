import type { ChainEnd } from "../memory-contract/records.ts";
import { LaresError } from "../base/errors.ts";

/** The journal's head is not the expected one, because another append came first. Nothing was written. */
export class HeadConflict extends LaresError {
  readonly head: ChainEnd;

  constructor(journal: string, expected: ChainEnd, { seq, hash }: ChainEnd) {
    super(
      "Conflict",
      `The ${journal} has ${seq} records, and record ${expected.seq} was expected to be the last. Read what was appended, and try again.`,
      { head: { seq, hash } },
    );
    this.head = { seq, hash };
  }
}
