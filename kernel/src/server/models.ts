import type { Handlers } from "./handlers.ts";

/** `lares/models/*`, `lares/usage`, `lares/secrets/*`: language models, what they cost, and the keys for them. */
export const modelHandlers = {
  "lares/models/list": async ({ refresh = false }, { client }, signal) =>
    client.services.models.list(refresh, signal),
  "lares/models/test": async ({ model }, { client }, signal) => client.services.models.test(model, signal),
  "lares/usage": async ({ since, until, group_by: groupBy }, { client }) => ({
    groups: await client.services.usage.sums({
      ...(since === undefined ? {} : { since }),
      ...(until === undefined ? {} : { until }),
      ...(groupBy === undefined ? {} : { groupBy }),
    }),
  }),
  "lares/secrets/list": async (_params, { client }) => ({ items: await client.services.secrets.list() }),
  "lares/secrets/set": async ({ name, value, hosts, in: place }, { client }) =>
    client.services.secrets.set(name, value, hosts, place),
  "lares/secrets/remove": async ({ name }, { client }) => {
    await client.services.secrets.remove(name);
    return null;
  },
} satisfies Partial<Handlers>;
