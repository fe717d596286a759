import type { DeepReadonly } from "../base/deep-readonly.ts";
import type { ClientRequest, ParamsOf, ResultOf } from "../protocol/v1/requests.ts";
import type { Session } from "./session/session.ts";

/** The handlers of all requests; each feature has some of them. */
export type Handlers = {
  readonly [Method in ClientRequest]: (
    params: ParamsOf<Method>,
    session: Session,
    /** Aborted when the client cancels the request. */
    signal: AbortSignal,
  ) => Promise<DeepReadonly<ResultOf<Method>>>;
};

/**
 * The requests that an untrusted connection may send; `Client.open` answers them. Every other request is refused
 * before its params are validated.
 */
export const openToUntrusted: ReadonlySet<string> = new Set<ClientRequest>([
  "lares/status",
  "lares/trust",
  "lares/trust/question",
  "lares/trust/program",
  "lares/agents/list",
]);
