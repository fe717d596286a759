import { deliveryAttempts } from "../backoff.ts";

interface Try {
  /** Counts from 1, since the dispatch or the last checkpoint. */
  readonly attempt: number;
  /** Errors of the handler before this attempt. */
  readonly failures: number;
  /** The handler has failed; otherwise the guest was lost, or the machine was at fault. */
  readonly hasFailed: boolean;
  /** The program has the job. */
  readonly isKnown: boolean;
}

/**
 * Returns whether a job is tried again. Retrying does not help if the program lacks the job. Errors of the handler are
 * counted since the dispatch; otherwise a job that saves a checkpoint before each error would never end.
 */
export function isTriedAgain({ attempt, failures, hasFailed, isKnown }: Try): boolean {
  if (attempt >= deliveryAttempts) return false;
  return !hasFailed || (isKnown && failures + 1 < deliveryAttempts);
}
