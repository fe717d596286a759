import { newId } from "../base/ids.ts";
import type { Handlers } from "./handlers.ts";
import { checkRoomFor } from "./subscriptions.ts";

/** `lares/conversations/*`: conversations with the minds of agents. */
export const conversationHandlers = {
  "lares/conversations/open": async (request, { client }) =>
    client.services.conversations.open(client.principal, request),
  "lares/conversations/list": async (query, { client }) => client.services.conversations.list(query),
  "lares/conversations/get": async ({ id }, { client }) => client.services.conversations.get(id),
  "lares/conversations/send": async (message, { client }) => ({
    entry: await client.services.conversations.send(client.principal, message),
  }),
  "lares/conversations/follow": async ({ id, from = 0 }, { client, endpoint, subscriptions }) => {
    checkRoomFor(subscriptions);
    const subscription = newId();
    const following = await client.services.conversations.follow(id, from, {
      entry: (entry) => {
        if (client.trusted) endpoint.notify("lares/conversations/entry", { subscription, entry });
      },
      delta: (delta) => {
        if (client.trusted) endpoint.notify("lares/conversations/delta", { subscription, ...delta });
      },
    });
    subscriptions.set(subscription, following);
    return { subscription, seq: following.seq };
  },
  "lares/conversations/unfollow": async ({ subscription }, { subscriptions }) => {
    subscriptions.get(subscription)?.[Symbol.dispose]();
    subscriptions.delete(subscription);
    return null;
  },
  "lares/conversations/entries": async (query, { client }) => client.services.conversations.entries(query),
  "lares/conversations/verify": async (whose, { client }, signal) =>
    client.services.conversations.verify(whose, signal),
  "lares/conversations/search": async (query, { client }) => client.services.conversations.search(query),
  "lares/conversations/cancel": async ({ id, process }, { client }) =>
    client.services.conversations.cancel(client.principal, id, process),
  "lares/conversations/fork": async ({ id, at }, { client }) =>
    client.services.conversations.fork(client.principal, id, at),
  "lares/conversations/compact": async ({ id }, { client }) =>
    client.services.conversations.compact(client.principal, id),
  "lares/conversations/pin": async ({ id, entry, pinned }, { client }) =>
    client.services.conversations.pin(client.principal, id, entry, pinned),
  "lares/conversations/redact": async (request, { client }) =>
    client.services.conversations.redact(client.principal, request),
  "lares/conversations/blocks": async (place, { client }) => {
    const { items } = await client.services.conversations.blocks(place);
    return { items: [...items] };
  },
  "lares/conversations/editBlock": async (edit, { client }) =>
    client.services.conversations.editBlock(client.principal, edit),
  "lares/conversations/update": async ({ id, ...change }, { client }) =>
    client.services.conversations.update(client.principal, id, change),
  "lares/conversations/delete": async ({ id }, { client }) =>
    client.services.conversations.delete(client.principal, id),
  "lares/conversations/context": async ({ id, process }, { client }) =>
    client.services.conversations.context(id, process),
  "lares/conversations/why": async (query, { client }) => client.services.conversations.why(query),
} satisfies Partial<Handlers>;
