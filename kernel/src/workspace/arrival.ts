import type { Observation } from "../platform/folder-reader.ts";
import type { Origin } from "./recorder.ts";
import type { Pending } from "./settling.ts";
import type { EntryNode } from "./tree.ts";

/** A path that has something where the index has nothing. */
export interface Arrival {
  readonly folder: EntryNode;
  readonly name: string;
  readonly observed: Observation;
  readonly origin: Origin;
  /** What is known of waiting for it, where it was waited for. */
  readonly pending: Pending | null;
  /** Taken as settled, and not held back while a scan runs. */
  readonly isForced: boolean;
}
