import type { Handlers } from "./handlers.ts";

/** `lares/entries/query`: queries the whole index, as the person sees it. */
export const entryHandlers = {
  "lares/entries/query": async (query, { client }, signal) => client.services.entries.query(query, signal),
} satisfies Partial<Handlers>;
