import type { NotificationChannel, NotificationRule } from "../base/vocabulary/notification-rule.ts";
import { defaultChannels, notificationChannels } from "../base/vocabulary/notification-rule.ts";
import type { AgentNotification } from "../base/vocabulary/notification.ts";

/** The rules in force. */
export interface ChannelRules {
  /** From the person's own document. */
  readonly person: readonly NotificationRule[];
  /** From the workspace's document, which may come from a stranger: they only take channels away. */
  readonly workspace: readonly NotificationRule[];
}

/** Returns the channels that show a notification; empty if none does. In each document, the first rule that matches counts. */
export function channelsFor(
  { person, workspace }: ChannelRules,
  notification: Pick<AgentNotification, "agent" | "severity">,
): NotificationChannel[] {
  const wanted = channelsIn(person, notification) ?? defaultChannels;
  const allowed = channelsIn(workspace, notification) ?? notificationChannels;
  return notificationChannels.filter((channel) => wanted.includes(channel) && allowed.includes(channel));
}

function channelsIn(
  rules: readonly NotificationRule[],
  { agent, severity }: Pick<AgentNotification, "agent" | "severity">,
): readonly NotificationChannel[] | undefined {
  return rules.find(
    ({ agents, severities }) => (agents?.includes(agent) ?? true) && (severities?.includes(severity) ?? true),
  )?.channels;
}
