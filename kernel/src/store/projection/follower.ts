import type { ChainEnd } from "../../memory-contract/records.ts";
import type { StoreSettings } from "../../memory-contract/store-settings.ts";
import type { JournalRecord } from "./port.ts";

/** A projection that follows the journal by a watermark of its own. */
export interface Follower {
  readonly watermark: ChainEnd;
  /** Applies all records or none. `records` and `end` follow the watermark. */
  apply(records: readonly JournalRecord[], end: ChainEnd): Promise<void>;
}

/** Data that is derived from the tables, not from the journal: vectors. */
export interface DerivedData extends AsyncDisposable {
  /** Applies the settings of a request. */
  configure(settings: StoreSettings): Promise<void>;
  /** Called after the tables have changed. */
  follow(): Promise<void>;
}
