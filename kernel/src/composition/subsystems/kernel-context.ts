import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";

export interface KernelOptions {
  /** The kernel runs without clients, and so do conversations. */
  readonly keep?: boolean;
  readonly stateFolder: string;
  /** The folder with the state of all workspaces, with links resolved like the other paths. */
  readonly stateHome: string;
  /** As the client named them; its open documents are named in the same way. */
  readonly givenRoots: readonly string[];
  /** Absolute paths, links resolved. */
  readonly roots: readonly string[];
  readonly userFolder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** The dependencies of every subsystem. */
export interface KernelContext extends KernelOptions {
  /** Closes what was opened, in reverse order, also if a later subsystem cannot be opened. */
  readonly opened: AsyncDisposableStack;
}
