import type { Handlers } from "./handlers.ts";

/** `lares/decisions/*`: what a person decided for good, to read and to take back. */
export const decisionHandlers: Handlers = {
  "lares/decisions/list": async (_params, { client }) => ({ items: await client.services.decisions.list() }),
  "lares/decisions/revoke": async ({ id }, { client }) => client.services.decisions.revoke(id),
};
