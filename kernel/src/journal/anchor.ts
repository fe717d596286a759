import type { ChainEnd } from "../memory-contract/records.ts";

/** An end that a journal is known to have reached on the disk, and its size at that time. */
export interface Anchor extends ChainEnd {
  /** Bytes of the journal up to and including record `seq`. */
  readonly size: number;
  /** Redact records up to this seq have been carried out: the records that they name have lost their data. */
  readonly carriedOut: number;
}
