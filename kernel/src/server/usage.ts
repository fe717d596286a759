import type { Handlers } from "./handlers.ts";

/** `lares/usage`: what requests to language models used. */
export const usageHandlers = {
  "lares/usage": async ({ since, until, group_by: groupBy }, { client }) => ({
    groups: await client.services.usage.sums({
      ...(since === undefined ? {} : { since }),
      ...(until === undefined ? {} : { until }),
      ...(groupBy === undefined ? {} : { groupBy }),
    }),
  }),
} satisfies Partial<Handlers>;
