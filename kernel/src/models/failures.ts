import type { ModelFailure, ModelFailureClass } from "../base/vocabulary/model.ts";

const isTransient: Readonly<Record<ModelFailureClass, boolean>> = {
  RateLimited: true,
  Overloaded: true,
  Network: true,
  Timeout: true,
  ContextOverflow: false,
  Unauthorized: false,
  InvalidRequest: false,
  Filtered: false,
  EmptyAnswer: false,
  Cancelled: false,
  NoModel: false,
  UnknownModel: false,
  NoKey: false,
};

/** True if the same request may succeed later, or with another model. */
export function isRetryable(failure: ModelFailure): boolean {
  return isTransient[failure.class];
}

/** True if the provider answered that it will not answer: it computed nothing, and charges nothing. */
export function isRefusal(failure: ModelFailure): boolean {
  switch (failure.class) {
    case "RateLimited":
    case "Overloaded":
    case "ContextOverflow":
    case "Unauthorized":
    case "InvalidRequest":
    case "UnknownModel":
    case "NoModel":
    case "NoKey":
      return true;
    // The computation until then may be charged.
    case "Filtered":
    case "EmptyAnswer":
    case "Network":
    case "Timeout":
    case "Cancelled":
      return false;
  }
}

/** Maximum number of requests to one model for one answer. */
export const maxAttemptsPerModel = 3;
/** If a provider asks for a longer wait, there is no further attempt. */
const maxRetryAfterMs = 60_000;

const firstBackoffMs = 500;
const maxBackoffMs = 20_000;

/**
 * Returns the delay before the next attempt in milliseconds, or null if it would be too long. `attempt` counts the
 * failed attempts from 1; `random` is in [0, 1).
 */
export function backoffMs(failure: ModelFailure, attempt: number, random: number): number | null {
  const wanted = failure.retry_after_ms ?? 0;
  if (wanted > maxRetryAfterMs) return null;
  const most = Math.min(maxBackoffMs, firstBackoffMs * 2 ** (attempt - 1));
  // Jitter, so that several agents that were refused together do not retry together.
  return wanted + Math.floor(most / 2 + (random * most) / 2);
}
