import type { Session } from "./session.ts";

/**
 * Requests of the LSP itself, by method. Params are as they came: a handler reads them with the guards of
 * `params.ts` and answers null where they have another shape.
 */
export type StandardHandlers = Readonly<
  Record<string, (params: unknown, session: Session, signal: AbortSignal) => unknown>
>;
