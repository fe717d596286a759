import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { Child } from "../../platform/children/child.ts";
import type { ChildProcess } from "../../platform/children/child-process.ts";
import { storeBounds as bounds } from "../bounds.ts";
import type { FromHost, ToHost } from "../messages.ts";

interface LinkOptions {
  /** Paths outside the state folder that this host may read. */
  readonly foreignPaths: ReadonlySet<string>;
  readonly clock: Clock;
  readonly log: Log;
  receive(words: FromHost, bytes: Uint8Array): void;
}

/** One store host process. */
export class HostLink extends Child<ToHost, FromHost> {
  readonly foreignPaths: ReadonlySet<string>;
  /** What it has sent to the outside and waits for, by its ids. */
  readonly posts = new Map<number, AbortController>();
  /** Nothing new is asked of it, and when it has answered it is told to end. */
  isLeaving = false;

  constructor(process: ChildProcess, { foreignPaths, clock, log, receive }: LinkOptions) {
    super(process, { name: "store host", log, clock, maxFrameBytes: bounds.maxFrameBytes, receive });
    this.foreignPaths = foreignPaths;
  }

  /** Lets it close its files; kills it where that takes too long. */
  close(): Promise<void> {
    return this.end({ kind: "end" }, bounds.endTimeoutMs);
  }
}
