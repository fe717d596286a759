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

/** The connection to one store host process. */
export class HostLink extends Child<ToHost, FromHost> {
  readonly foreignPaths: ReadonlySet<string>;
  /** Requests to the outside (egress, inference) that the host has open, by id. */
  readonly posts = new Map<number, AbortController>();
  /**
   * True once another host is to take over: this one gets no new requests, and is told to end after its last
   * answer.
   */
  isLeaving = false;

  constructor(process: ChildProcess, { foreignPaths, clock, log, receive }: LinkOptions) {
    super(process, { name: "store host", log, clock, maxFrameBytes: bounds.maxFrameBytes, receive });
    this.foreignPaths = foreignPaths;
  }

  /** Asks the host to close its files and to end; kills it after a timeout. */
  close(): Promise<void> {
    return this.end({ kind: "end" }, bounds.endTimeoutMs);
  }
}
