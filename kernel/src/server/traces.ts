import { newId } from "../base/ids.ts";
import { LaresError } from "../base/errors.ts";
import type { TraceLevel } from "../base/vocabulary/trace.ts";
import type { Handlers } from "./handlers.ts";
import { traceLevels, type KernelServices } from "./ports.ts";

/** Trace subscriptions one client may hold. */
export const maxSubscriptions = 64;

/** `lares/traces/*`: what agents did, asked for or followed. */
export function traceHandlers({ traces }: KernelServices): Handlers {
  return {
    "lares/traces/query": (query) => traces.query(query),
    "lares/traces/follow": async ({ agent, level }, session) => {
      if (session.subscriptions.size >= maxSubscriptions) {
        throw new LaresError(
          "LimitExceeded",
          `This client follows ${maxSubscriptions} traces already; unfollow one first.`,
          {
            limit: "subscriptions",
            value: maxSubscriptions,
          },
        );
      }
      const subscription = newId();
      const listening = traces.entries.on((entry) => {
        if (!session.trusted || (agent !== undefined && entry.agent !== agent)) return;
        if (level !== undefined && !isAtLeast(entry.level, level)) return;
        session.endpoint.notify("lares/traces/entry", { subscription, entry });
      });
      session.subscriptions.set(subscription, listening);
      return { subscription };
    },
    "lares/traces/unfollow": async ({ subscription }, session) => {
      session.subscriptions.get(subscription)?.[Symbol.dispose]();
      session.subscriptions.delete(subscription);
      return null;
    },
  };
}

function isAtLeast(level: TraceLevel, least: TraceLevel): boolean {
  return traceLevels.indexOf(level) >= traceLevels.indexOf(least);
}
