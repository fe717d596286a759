import type { Handlers } from "./handlers.ts";

/** `lares/status`: what is open, indexed and waiting. */
export const statusHandlers = {
  "lares/status": async (_params, { client }) => client.status(),
} satisfies Partial<Handlers>;
