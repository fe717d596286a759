import { setTimeout as pause } from "node:timers/promises";
import type { Status } from "../render/model.ts";

const pollMs = 100;
/** The kernel has to be idle in this many checks in a row, because it is also idle between a write and its event. */
const looksInARow = 3;

interface IdlePorts {
  readonly status: () => Promise<Status>;
  /** True while a question or a decision is in progress here. */
  readonly isBusy: () => boolean;
  readonly onStatus: (status: Status) => void;
}

/** Resolves with the last status when the kernel was idle in several checks in a row. */
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
