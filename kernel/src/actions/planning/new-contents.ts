import { limitExceeded } from "../../base/errors.ts";
import type { Hash } from "../../base/vocabulary/common.ts";
import { actionLimits } from "../limits.ts";

/** Collects the new contents of one action, each once. */
export class NewContents {
  readonly all = new Map<Hash, Uint8Array>();
  #bytes = 0;

  /** Throws LimitExceeded beyond `previewFileBytes` and `previewTotalBytes`. */
  keep(hash: Hash, content: Uint8Array): void {
    if (content.length > actionLimits.previewFileBytes) {
      throw limitExceeded(
        "previewFileBytes",
        content.length,
        `A file can have at most ${actionLimits.previewFileBytes} bytes. Write less.`,
      );
    }
    if (this.all.has(hash)) return;
    this.#bytes += content.length;
    if (this.#bytes > actionLimits.previewTotalBytes) {
      throw limitExceeded(
        "previewTotalBytes",
        this.#bytes,
        `The new contents of one action can have at most ${actionLimits.previewTotalBytes} bytes in total. Propose several actions.`,
      );
    }
    this.all.set(hash, content);
  }
}
