import type { Handlers } from "./handlers.ts";

/** `lares/decisions/*`: lists and revokes the "always" decisions of a person. */
export const decisionHandlers = {
  "lares/decisions/list": async (_params, { client }) => ({ items: await client.services.decisions.list() }),
  "lares/decisions/revoke": async ({ id }, { client }) =>
    client.services.decisions.revoke(client.principal, id),
} satisfies Partial<Handlers>;
