import type { OpenCalls } from "../calls/open-calls.ts";
import type { Recipient } from "../delivery/delivery.ts";
import type { AgentSession } from "../ports.ts";

/** What the loop needs from its agent. */
export interface JobAgent extends Pick<
  Recipient,
  | "id"
  | "canDeliver"
  | "session"
  | "wake"
  | "ask"
  | "wasEndedOnPurpose"
  | "succeeded"
  | "failed"
  | "trace"
  | "rest"
> {
  /** True while it has the permission `dispatch_jobs`; jobs dispatched before a revocation wait. */
  mayRunJobs(): boolean;
  /** The program's jobs, once it has reported them. */
  jobNames(): ReadonlySet<string>;
  /** A guest was lost during an event that has not been handled since. */
  isTryingEventAgain(): boolean;
  /** No work has arrived since idle time was granted. */
  isStillQuiet(): boolean;
  /** Its jobs have changed or progressed. */
  jobsChanged(): void;
  /** Nothing would be lost if the guest ended now: it may make room for another agent. */
  mayLeave(session: AgentSession): void;
  /** Ends the guest on purpose: with a shutdown request, then forcibly. The next guest receives the remaining work. */
  endGuest(session: AgentSession): void;
  readonly open: Pick<OpenCalls, "begin" | "hear" | "abort" | "end">;
}
