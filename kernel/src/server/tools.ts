import type { Handlers } from "./handlers.ts";
import type { KernelServices } from "./ports.ts";

/** `lares/tools/*`: the functions agents offer. */
export function toolHandlers({ tools }: KernelServices): Handlers {
  return {
    "lares/tools/list": ({ agent }) => tools.list(agent),
    "lares/tools/call": (call, _session, signal) =>
      unlessCancelled(tools.call(call.agent, call.name, call.arguments), signal),
  };
}

/** A guest cannot be told to leave a handler. It goes on within its limits; whoever cancelled waits no longer. */
function unlessCancelled<Value>(answer: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const cancelled = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", cancelled, { once: true });
    if (signal.aborted) cancelled();
    answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", cancelled));
  });
}
