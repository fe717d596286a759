import type { Handlers } from "./handlers.ts";
import type { KernelServices } from "./ports.ts";

/** `lares/tools/*`: the functions agents offer. */
export function toolHandlers({ tools }: KernelServices): Handlers {
  return {
    "lares/tools/list": async ({ agent }) => tools.list(agent),
    "lares/tools/call": (call) => tools.call(call.agent, call.name, call.arguments),
  };
}
