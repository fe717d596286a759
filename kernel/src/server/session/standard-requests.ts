import type { Session } from "./session.ts";

/**
 * Handlers of LSP requests, by method. Params are not validated: each handler parses them with `params.ts` and
 * returns null if they are invalid.
 */
export type StandardHandlers = Readonly<
  Record<string, (params: unknown, session: Session, signal: AbortSignal) => unknown>
>;
