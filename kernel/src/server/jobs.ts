import type { Handlers } from "./handlers.ts";

/** `lares/jobs/*`: what agents have to do beside their events, and a person's word that it is not to be done. */
export const jobHandlers: Handlers = {
  "lares/jobs/list": async ({ limit, agent }, { client }) => client.services.jobs.list(limit, agent),
  "lares/jobs/cancel": async ({ id, agent }, { client }) =>
    client.services.jobs.cancel(client.principal, id, agent),
};
