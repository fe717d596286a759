/**
 * The circuit breaker of one agent, as pure data.
 *
 * Three failures in a row open it: the agent is suspended with the reason, so that a broken program does not
 * burn the machine. After a pause, one delivery is let through (half-open): success closes it, a failure
 * opens it again for twice as long. A person's resume closes it at once.
 */
export interface Breaker {
  readonly consecutiveFailures: number;
  /** How often it opened since it was last closed by a success or a user. */
  readonly openings: number;
  readonly state: "closed" | "open" | "half-open";
}

export const failuresToOpen = 3;
export const firstPauseMs = 30_000;
export const longestPauseMs = 30 * 60_000;

export const closedBreaker: Breaker = { consecutiveFailures: 0, openings: 0, state: "closed" };

export function succeeded(breaker: Breaker): Breaker {
  return breaker.state === "open" ? breaker : closedBreaker;
}

/** Records a failure; the resulting `state` shows whether it opened. */
export function failed(breaker: Breaker): Breaker {
  const consecutiveFailures = breaker.consecutiveFailures + 1;
  const opens = breaker.state === "half-open" || consecutiveFailures >= failuresToOpen;
  return opens
    ? { consecutiveFailures, openings: breaker.openings + 1, state: "open" }
    : { ...breaker, consecutiveFailures };
}

export function halfOpen(breaker: Breaker): Breaker {
  return { ...breaker, state: "half-open" };
}

/** Opens it for a reason other than a failed delivery. */
export function opened(breaker: Breaker): Breaker {
  return { ...breaker, openings: breaker.openings + 1, state: "open" };
}

/** Returns how long an open breaker stays open before one delivery is tried, in milliseconds. */
export function pauseMs(breaker: Breaker): number {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** Math.max(0, breaker.openings - 1));
}
