import { isJsonObject } from "../../base/json.ts";
import type { InHand } from "../ports.ts";
import type { OpenCalls } from "./open-calls.ts";

/**
 * Returns the work that a request belongs to: what the guest has in hand, unless the request names a call that it answers
 * meanwhile. An event that is handled beside such a call did not lead to it. After its answer, a call may be named by
 * anything that the guest does later, so the work in hand counts then too.
 */
export function workOf(
  open: Pick<OpenCalls, "isOpen">,
  onBehalf: string | null | undefined,
  inHand: InHand,
): InHand {
  if (typeof onBehalf !== "string" || !open.isOpen(onBehalf)) return inHand;
  return onBehalf === inHand.job ? { job: onBehalf, traceId: onBehalf } : {};
}

/** Returns the call that a request names, before its shape is checked. */
export function onBehalfIn(params: unknown): string | undefined {
  const named = isJsonObject(params) ? params["on_behalf"] : undefined;
  return typeof named === "string" ? named : undefined;
}
