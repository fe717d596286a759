import type { DeepReadonly } from "../base/deep-readonly.ts";
import type { ClientRequest, ParamsOf, ResultOf } from "../protocol/v1/requests.ts";
import type { Session } from "./session/session.ts";

/** The requests one feature answers. */
export type Handlers = {
  readonly [Method in ClientRequest]?: (
    params: ParamsOf<Method>,
    session: Session,
    /** Aborted once the client cancelled the request. */
    signal: AbortSignal,
  ) => Promise<DeepReadonly<ResultOf<Method>>>;
};

/**
 * What a connection that is not trusted may ask: what is answered from `Client.open`. Everything else is refused before its
 * params are looked at.
 */
export const openToUntrusted: ReadonlySet<string> = new Set<ClientRequest>([
  "lares/status",
  "lares/trust",
  "lares/trust/question",
  "lares/trust/program",
  "lares/agents/list",
]);
