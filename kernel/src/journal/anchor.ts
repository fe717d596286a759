import type { ChainEnd } from "../memory-contract/records.ts";

/** An end that a journal is known to have reached on the disk, and how large it then was. */
export interface Anchor extends ChainEnd {
  /** Bytes of the journal up to and including record `seq`. */
  readonly size: number;
  /** Redact records up to this seq have been carried out: what they name has no data any more. */
  readonly carriedOut: number;
}
