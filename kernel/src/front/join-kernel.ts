import { messageOf, storageError } from "../base/errors.ts";

/** What comes of one attempt to reach the workspace's kernel. */
export type ReachOutcome<Connection> =
  | { readonly kind: "connected"; readonly connection: Connection }
  | { readonly kind: "absent" }
  | { readonly kind: "closing" };

export interface JoinPorts<Connection> {
  reach(): Promise<ReachOutcome<Connection>>;
  /** Starts a kernel; the promise inside resolves when that process has gone, with how. */
  start(): Promise<{ readonly exited: Promise<string> }>;
  delay(milliseconds: number): Promise<void>;
  /** Milliseconds; never goes backwards. */
  monotonic(): number;
  /** The end of what the kernel wrote to its log. */
  logTail(): Promise<string>;
  isCancelled(): boolean;
}

/** So many kernels are started before the attempt is given up. */
export const maxStarts = 3;
/** A started kernel must answer in this time, and one on its way out must be gone. */
const patienceMs = 30_000;
/** A kernel that ended may have found another one starting: so long that one is waited for. */
const graceMs = 500;
const firstPollMs = 5;
const longestPollMs = 100;
/** Between two looks passes about a fiftieth of the time waited so far: what is soon there is soon found. */
const pollGrowth = 1.02;
const firstRestartMs = 100;

/** Joins the workspace's kernel, starting it where none is there. Throws StorageError when that fails for good. */
export async function joinKernel<Connection>(ports: JoinPorts<Connection>): Promise<Connection | null> {
  let starts = 0;
  let lastEnd = "";
  let isStarting = false;
  let endedAt: number | null = null;
  let waitingSince = ports.monotonic();
  let pollMs = firstPollMs;

  while (!ports.isCancelled()) {
    const outcome = await ports.reach();
    if (outcome.kind === "connected") return outcome.connection;

    const now = ports.monotonic();
    if (isStarting && endedAt !== null && now - endedAt > graceMs) isStarting = false;
    if (isStarting && now - waitingSince > patienceMs)
      throw await failure(ports, `it did not answer in ${patienceMs / 1000} s`);
    if (outcome.kind === "closing") {
      if (now - waitingSince > patienceMs)
        throw await failure(ports, `the one that is ending is not gone after ${patienceMs / 1000} s`);
    } else if (!isStarting) {
      if (starts === maxStarts) throw await failure(ports, `it ${lastEnd}, ${maxStarts} times in a row`);
      if (starts > 0) await ports.delay(firstRestartMs * 2 ** starts);
      starts++;
      isStarting = true;
      endedAt = null;
      waitingSince = ports.monotonic();
      pollMs = firstPollMs;
      const { exited } = await ports.start();
      void exited.then((how) => {
        lastEnd = how;
        endedAt = ports.monotonic();
      });
    }
    await ports.delay(pollMs);
    pollMs = Math.min(pollMs * pollGrowth, longestPollMs);
  }
  return null;
}

async function failure(ports: JoinPorts<unknown>, reason: string): Promise<Error> {
  const tail = await ports.logTail().catch((error: unknown) => messageOf(error));
  return storageError(
    `The workspace's kernel could not be started: ${reason}.${tail === "" ? "" : ` Its last words:\n${tail}`}`,
  );
}
