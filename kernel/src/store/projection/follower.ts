import type { ChainEnd } from "../../memory-contract/records.ts";
import type { StoreSettings } from "../../memory-contract/store-settings.ts";
import type { JournalRecord } from "./port.ts";

/** A projection that follows the journal by a watermark of its own. */
export interface Follower {
  readonly watermark: ChainEnd;
  /** All of it or nothing of it. `records` and `end` go on from the watermark. */
  apply(records: readonly JournalRecord[], end: ChainEnd): Promise<void>;
}

/** What stands behind the tables and follows them, not the journal: vectors. */
export interface Behind extends AsyncDisposable {
  /** What the settings of a request say counts from now on. */
  configure(settings: StoreSettings): Promise<void>;
  /** The tables have changed. */
  follow(): Promise<void>;
}
