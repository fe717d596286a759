import process from "node:process";
import type { FailpointName } from "./failpoints.ts";

/** Names the failpoint at which the process dies: `name`, or `name@3` for the third time it is passed. */
export const failpointVariable = "LARES_FAILPOINT";

const [chosen, times] = (process.env[failpointVariable] ?? "").split("@");
let passesLeft = times === undefined ? 1 : Number(times);

/**
 * Does nothing, unless the environment named this point: then the process ends here and now by SIGKILL,
 * as if its power had been cut, so that what a crash leaves behind can be tested.
 */
export function failpoint(name: FailpointName): void {
  if (name !== chosen) return;
  passesLeft -= 1;
  if (passesLeft > 0) return;
  process.kill(process.pid, "SIGKILL");
  // The signal reaches a worker thread's process a moment later: nothing may happen in between.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}
