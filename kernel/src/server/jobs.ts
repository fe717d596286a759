import type { Handlers } from "./handlers.ts";
import type { KernelServices } from "./ports.ts";

/** `lares/jobs/*`: what agents have to do beside their events, and a person's word that it is not to be done. */
export function jobHandlers({ jobs }: KernelServices): Handlers {
  return {
    "lares/jobs/list": ({ limit, agent }) => jobs.list(limit, agent),
    "lares/jobs/cancel": ({ id, agent }) => jobs.cancel(id, agent),
  };
}
