import type { ClientRequest, ParamsOf, ResultOf } from "../protocol/v1/requests.ts";
import type { Session } from "./session.ts";

/** The requests one feature answers. */
export type Handlers = {
  readonly [Method in ClientRequest]?: (
    params: ParamsOf<Method>,
    session: Session,
    /** Aborted once the client cancelled the request. */
    signal: AbortSignal,
  ) => Promise<ResultOf<Method>>;
};

/** What a connection that is not trusted may ask; everything else is Untrusted. */
export const openToUntrusted: ReadonlySet<string> = new Set<ClientRequest>([
  "lares/status",
  "lares/trust",
  "lares/trust/question",
  "lares/trust/program",
  "lares/agents/list",
]);
