import type { Session } from "../session.ts";
import type { StandardHandlers } from "../standard-requests.ts";

type ListFeature = (params: unknown, session: Session, signal: AbortSignal) => Promise<readonly unknown[]>;

/** One answer from several features: what each of them finds, in their order. */
export function joined(...features: readonly ListFeature[]): StandardHandlers[string] {
  return async (params, session, signal) =>
    (await Promise.all(features.map((feature) => feature(params, session, signal)))).flat();
}
