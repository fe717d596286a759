import { defaultChannels, type NotificationChannel } from "../base/vocabulary/notification-rule.ts";
import type { AgentNotice } from "../services/ports.ts";
import type { Handlers } from "./handlers.ts";

/** `lares/notifications/*`: lists what agents said to the person, dismisses it, and uses its buttons. */
export const notificationHandlers = {
  "lares/notifications/list": async (query, { client }) => client.services.notifications.list(query),
  "lares/notifications/dismiss": async ({ ids }, { client }) => ({
    dismissed: await client.services.notifications.dismiss(client.principal, ids),
  }),
  "lares/notifications/act": async ({ id }, { client }) =>
    client.services.notifications.act(client.principal, id),
} satisfies Partial<Handlers>;

/**
 * Returns a notification as `lares/notify` tells it to a client that can show it in these channels; null if the person
 * wants it in none of them.
 */
export function noticeOf(
  { notification, channels: wanted, action }: AgentNotice,
  announced: readonly NotificationChannel[] = defaultChannels,
) {
  const channels = wanted.filter((channel) => announced.includes(channel));
  if (channels.length === 0) return null;
  const { id, agent, title, message, severity, count, held_back, schedule } = notification;
  return {
    id,
    agent,
    title,
    message,
    severity,
    channels,
    count,
    ...(held_back === undefined ? {} : { held_back }),
    ...(schedule === undefined ? {} : { schedule }),
    ...(action === undefined
      ? {}
      : { actions: [{ title: action.title, actionId: action.id, digest: action.digest }] }),
  };
}
