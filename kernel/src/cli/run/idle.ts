import { setTimeout as pause } from "node:timers/promises";
import type { Status } from "../render/model.ts";

const pollMs = 100;
/** Idle has to hold for this many looks: between a write and its event the kernel is idle for a moment too. */
const looksInARow = 3;

export interface IdlePorts {
  readonly status: () => Promise<Status>;
  /** Nothing is being asked or carried out from here. */
  readonly isBusy: () => boolean;
  readonly onStatus: (status: Status) => void;
}

/** Resolves when the kernel has had nothing to do for a few looks in a row; the last status seen. */
export async function whenIdle(
  { status, isBusy, onStatus }: IdlePorts,
  signal: AbortSignal,
): Promise<Status> {
  let idleLooks = 0;
  for (;;) {
    const now = await status();
    onStatus(now);
    idleLooks = now.ready && now.idle && !isBusy() ? idleLooks + 1 : 0;
    if (idleLooks >= looksInARow || signal.aborted) return now;
    try {
      await pause(pollMs, undefined, { signal });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}
