import { failpoint } from "../../platform/failpoint.ts";
import type { ChainEnd } from "../../memory-contract/records.ts";
import type { Follower } from "./follower.ts";
import type { JournalRecord, TextIndex } from "./port.ts";

/** One memory's text index. */
export class Texts implements Follower, Disposable {
  readonly index: TextIndex;

  constructor(index: TextIndex) {
    this.index = index;
  }

  get watermark(): ChainEnd {
    return this.index.watermark;
  }

  apply(records: readonly JournalRecord[], end: ChainEnd): Promise<void> {
    failpoint("store.text.begun");
    this.index.apply(records, end);
    failpoint("store.text.committed");
    return Promise.resolve();
  }

  [Symbol.dispose](): void {
    this.index.close();
    failpoint("store.text.closed");
  }
}
