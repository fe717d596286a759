import type { Observation } from "../platform/files/folder-reader.ts";
import type { Origin } from "./recorder.ts";
import type { Pending } from "./settling.ts";
import type { EntryNode } from "./tree.ts";

/** A path that exists on disk but not in the index. */
export interface Arrival {
  readonly folder: EntryNode;
  readonly name: string;
  readonly observed: Observation;
  readonly origin: Origin;
  /** The state of the wait for this path, if it was waited for. */
  readonly pending: Pending | null;
  /** Counts as settled, and is not held back while a scan runs. */
  readonly isForced: boolean;
}
