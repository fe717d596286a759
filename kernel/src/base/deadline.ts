import { LaresError } from "./errors.ts";

/** The time until which the caller of a tool waits for it, and for everything that it calls in turn. */
export interface Deadline {
  /** By the monotonic clock, so that a clock that is set does not move it. Milliseconds. */
  readonly atMs: number;
  /** The time that was allowed when the deadline was set. Milliseconds. */
  readonly allowedMs: number;
  /** Who set it, in words. */
  readonly setBy: string;
  /** The call that it was set for: `agent.id/tool`. */
  readonly call: string;
}

/** The longest deadline. Milliseconds. */
export const maxDeadlineMs = 24 * 3_600_000;

/** Returns the first one that passes, or undefined. */
export function earlierDeadline(
  one: Deadline | undefined,
  other: Deadline | undefined,
): Deadline | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return other.atMs < one.atMs ? other : one;
}

/** Returns the error for what was not answered in time; it says whose deadline that was. */
export function deadlineExceeded({ allowedMs, setBy, call }: Deadline): LaresError {
  return new LaresError(
    "DeadlineExceeded",
    `The deadline of ${allowedMs} ms that ${setBy} set for ${call} has passed.`,
    { deadline_ms: allowedMs, set_by: setBy, call },
  );
}
