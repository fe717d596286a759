import type { Handlers } from "./handlers.ts";

/** `lares/types/*`: the values that agents share by types. */
export const typeHandlers = {
  "lares/types/list": async (_params, { client }) => ({ items: await client.services.types.list() }),
  "lares/types/values": async ({ type, cursor }, { client }) => client.services.types.values(type, cursor),
} satisfies Partial<Handlers>;
