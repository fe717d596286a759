import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Session } from "../session/session.ts";
import type { StandardHandlers } from "../session/standard-requests.ts";

type ListFeature = (params: unknown, session: Session, signal: AbortSignal) => Promise<readonly unknown[]>;

/**
 * Returns a handler that concatenates the results of several features. A failure is logged and does not affect the
 * others; if all fail, the first error is the answer.
 */
export function combinedAnswer(log: Log, ...features: readonly ListFeature[]): StandardHandlers[string] {
  return async (params, session, signal) => {
    const found = await Promise.allSettled(features.map((feature) => feature(params, session, signal)));
    const failed = found.filter((each) => each.status === "rejected");
    if (failed.length === features.length) throw failed[0]?.reason;
    for (const { reason } of failed) log.warn(`part of an answer is missing: ${messageOf(reason)}`);
    return found.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
  };
}
