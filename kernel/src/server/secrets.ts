import type { Handlers } from "./handlers.ts";

/** `lares/secrets/*`: the user's secrets, without their values. */
export const secretHandlers = {
  "lares/secrets/list": async (_params, { client }) => ({ items: await client.services.secrets.list() }),
  "lares/secrets/set": async ({ name, value, hosts, in: place }, { client }) =>
    client.services.secrets.set(client.principal, name, value, hosts, place),
  "lares/secrets/remove": async ({ name }, { client }) => {
    await client.services.secrets.remove(client.principal, name);
    return null;
  },
} satisfies Partial<Handlers>;
