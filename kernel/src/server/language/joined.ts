import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Session } from "../session/session.ts";
import type { StandardHandlers } from "../session/standard-requests.ts";

type ListFeature = (params: unknown, session: Session, signal: AbortSignal) => Promise<readonly unknown[]>;

/**
 * One answer from several features: what each of them finds, in their order. One that fails is logged and takes
 * nothing from the others; where all fail, the first one's error is the answer.
 */
export function joined(log: Log, ...features: readonly ListFeature[]): StandardHandlers[string] {
  return async (params, session, signal) => {
    const found = await Promise.allSettled(features.map((feature) => feature(params, session, signal)));
    const failed = found.filter((each) => each.status === "rejected");
    if (failed.length === features.length) throw failed[0]?.reason;
    for (const { reason } of failed) log.warn(`part of an answer is missing: ${messageOf(reason)}`);
    return found.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
  };
}
