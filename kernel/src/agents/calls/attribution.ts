import type { InHand } from "../ports.ts";

/**
 * Returns the work that a request belongs to: what the guest has in hand, unless the request names a call that it answers
 * meanwhile. An event that is handled beside such a call did not lead to it.
 */
export function workOf(onBehalf: string | null | undefined, inHand: InHand): InHand {
  if (onBehalf === undefined || onBehalf === null) return inHand;
  return onBehalf === inHand.job ? { job: onBehalf, traceId: onBehalf } : {};
}
