import type { Handlers } from "./handlers.ts";

/** `lares/jobs/*`: lists the jobs of agents, cancels one, and retries or removes a dead one. */
export const jobHandlers = {
  "lares/jobs/list": async ({ limit, agent, state }, { client }) =>
    client.services.jobs.list(limit, agent, state),
  "lares/jobs/cancel": async ({ id, agent }, { client }) =>
    client.services.jobs.cancel(client.principal, id, agent),
  "lares/jobs/retry": async ({ id }, { client }) => client.services.jobs.retry(client.principal, id),
  "lares/jobs/remove": async ({ id }, { client }) => client.services.jobs.remove(client.principal, id),
} satisfies Partial<Handlers>;
