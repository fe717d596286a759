import type { Handlers } from "./handlers.ts";
import type { KernelServices } from "./ports.ts";

/** `lares/entries/query`: the index, as the person sees it, which is all of it. */
export function entryHandlers({ entries }: KernelServices): Handlers {
  return { "lares/entries/query": async (query) => entries.query(query) };
}
