import type { Handlers } from "./handlers.ts";

/** `lares/jobs/*`: lists the jobs of agents, and cancels one. */
export const jobHandlers = {
  "lares/jobs/list": async ({ limit, agent }, { client }) => client.services.jobs.list(limit, agent),
  "lares/jobs/cancel": async ({ id, agent }, { client }) =>
    client.services.jobs.cancel(client.principal, id, agent),
} satisfies Partial<Handlers>;
