import type { Handlers } from "./handlers.ts";

/** `lares/models/*`: the language models of the person's settings. */
export const modelHandlers = {
  "lares/models/list": async ({ refresh = false }, { client }, signal) =>
    client.services.models.list(refresh, signal),
  "lares/models/test": async ({ model }, { client }, signal) => client.services.models.test(model, signal),
} satisfies Partial<Handlers>;
