import type { Handlers } from "./handlers.ts";

/** `lares/entries/query`: the index, as the person sees it, which is all of it. */
export const entryHandlers: Handlers = {
  "lares/entries/query": async (query, { client }, signal) => client.services.entries.query(query, signal),
};
