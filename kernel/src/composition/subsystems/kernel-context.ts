import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";

export interface KernelOptions {
  readonly stateFolder: string;
  /** Holds the state of all workspaces. Links resolved, as in the other paths. */
  readonly stateHome: string;
  /** As the client named them: what it has open it names in the same way. */
  readonly givenRoots: readonly string[];
  /** Absolute paths, links resolved. */
  readonly roots: readonly string[];
  readonly userFolder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** What every subsystem is opened with. */
export interface KernelContext extends KernelOptions {
  /** Closes what was opened, in reverse order, also if a later subsystem cannot be opened. */
  readonly opened: AsyncDisposableStack;
}
