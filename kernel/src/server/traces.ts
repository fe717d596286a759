import { newId } from "../base/ids.ts";
import type { Handlers } from "./handlers.ts";
import { checkRoomFor } from "./subscriptions.ts";

/** `lares/traces/*`: queries and follows the traces of agents. */
export const traceHandlers = {
  "lares/traces/query": async (query, { client }) => client.services.traces.query(query),
  "lares/traces/follow": async ({ agent, level, after, inspect }, { client, endpoint, subscriptions }) => {
    checkRoomFor(subscriptions);
    const subscription = newId();
    const mayInspect = inspect === true ? () => client.trusted : undefined;
    const following = client.services.traces.follow({ agent, level, inspect: mayInspect }, after, (entry) => {
      if (client.trusted) endpoint.notify("lares/traces/entry", { subscription, entry });
    });
    subscriptions.set(subscription, following);
    return { subscription, cursor: following.cursor };
  },
  "lares/traces/unfollow": async ({ subscription }, { subscriptions }) => {
    subscriptions.get(subscription)?.[Symbol.dispose]();
    subscriptions.delete(subscription);
    return null;
  },
} satisfies Partial<Handlers>;
