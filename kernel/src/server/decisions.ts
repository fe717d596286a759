import type { Handlers } from "./handlers.ts";
import type { KernelServices } from "./ports.ts";

/** `lares/decisions/*`: what a person decided for good, to read and to take back. */
export function decisionHandlers({ decisions }: KernelServices): Handlers {
  return {
    "lares/decisions/list": async () => ({ items: await decisions.list() }),
    "lares/decisions/revoke": ({ id }) => decisions.revoke(id),
  };
}
