import { messageOf, storageError } from "../base/errors.ts";

/** The outcome of one attempt to connect to the workspace's kernel. */
export type ReachOutcome<Connection> =
  | { readonly kind: "connected"; readonly connection: Connection }
  | { readonly kind: "absent" }
  | { readonly kind: "starting" }
  | { readonly kind: "closing" };

export interface JoinPorts<Connection> {
  reach(): Promise<ReachOutcome<Connection>>;
  /** Starts a kernel. The inner promise resolves with a description of the exit once the process has ended. */
  start(): Promise<{ readonly exited: Promise<string> }>;
  delay(milliseconds: number): Promise<void>;
  /** In milliseconds; monotonic. */
  monotonic(): number;
  /** Returns the end of the kernel's log. */
  logTail(): Promise<string>;
  isCancelled(): boolean;
}

/** Maximum number of kernels that are started before the attempt fails. */
export const maxStarts = 3;
/** Maximum time for a started kernel to answer, and for a closing one to end. */
const patienceMs = 30_000;
/** The same for a kernel that says that it is starting: it may have a thousand extensions to read. */
const longestStartMs = 600_000;
/** A kernel that ended may have found another one that is starting; that one gets this much time to answer. */
const graceMs = 500;
const firstPollMs = 5;
const longestPollMs = 100;
/** The interval between two attempts is about a fiftieth of the time waited so far: a fast start is noticed fast. */
const pollGrowth = 1.02;
const firstRestartMs = 100;

/**
 * Connects to the workspace's kernel, and starts one if there is none. Throws StorageError if that fails permanently.
 */
export async function joinKernel<Connection>(ports: JoinPorts<Connection>): Promise<Connection | null> {
  let starts = 0;
  let lastEnd = "";
  let isStarting = false;
  let endedAt: number | null = null;
  let waitingSince = ports.monotonic();
  let startingSince: number | null = null;
  let pollMs = firstPollMs;

  while (!ports.isCancelled()) {
    const outcome = await ports.reach();
    if (outcome.kind === "connected") return outcome.connection;

    const now = ports.monotonic();
    if (isStarting && endedAt !== null && now - endedAt > graceMs) isStarting = false;
    if (outcome.kind === "starting") {
      startingSince ??= now;
      waitingSince = now;
      if (now - startingSince > longestStartMs)
        throw await failure(ports, `it was not ready after ${longestStartMs / 60_000} minutes`);
    } else startingSince = null;
    if (isStarting && now - waitingSince > patienceMs)
      throw await failure(ports, `it did not answer in ${patienceMs / 1000} s`);
    if (outcome.kind === "closing") {
      if (now - waitingSince > patienceMs)
        throw await failure(ports, `the previous kernel has not ended after ${patienceMs / 1000} s`);
    } else if (outcome.kind === "absent" && !isStarting) {
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
    `The workspace's kernel could not be started: ${reason}.${tail === "" ? "" : ` The end of its log:\n${tail}`}`,
  );
}
