import { Type, type Static } from "typebox";
import { NotificationChannel } from "./notification-rule.ts";
import { closed, Severity, Timestamp } from "./common.ts";

export const NotificationState = Type.Union(
  [
    Type.Literal("New", { description: "Waits for a person" }),
    Type.Literal("Dismissed", { description: "A person has seen it, or used its button" }),
  ],
  { description: "Whether a person has seen it" },
);
export type NotificationState = Static<typeof NotificationState>;

/** A suspended schedule, which the button of a notification resumes. */
export const NotifiedSchedule = Type.Object(
  {
    handler: Type.String({ description: "The handler that it runs" }),
    schedule: Type.String({ description: "When it is due, as `Agent.hooks` has it" }),
  },
  {
    ...closed,
    description:
      "The schedule that is suspended: present in the kernel's own notification about it, whose words are the kernel's. `lares/notifications/act` resumes it",
  },
);
export type NotifiedSchedule = Static<typeof NotifiedSchedule>;

/** A message of an agent to a person, as the kernel keeps it. */
export const AgentNotification = Type.Object(
  {
    id: Type.String({ description: "The notification's id" }),
    agent: Type.String({ description: "The id of the agent that says it" }),
    title: Type.String({ description: "The headline, in the agent's words" }),
    message: Type.String({ description: "The latest message, in the agent's words" }),
    severity: Severity,
    state: NotificationState,
    count: Type.Integer({
      minimum: 1,
      description:
        "How often the agent said it: notifications with the same title and severity are one as long as it is new",
    }),
    created: Timestamp("When the agent said it first"),
    updated: Timestamp("When the agent said it last"),
    held_back: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          "Present in the kernel's own notification about an agent that sent too many: how many were not kept. Its words are the kernel's",
      }),
    ),
    channels: Type.Optional(
      Type.Array(NotificationChannel, {
        description: "Where the person wants it; empty if nowhere. Absent while nobody knows",
      }),
    ),
    schedule: Type.Optional(NotifiedSchedule),
    action: Type.Optional(
      Type.String({
        description: "The id of the action that it proposes; `lares/notifications/act` is its button",
      }),
    ),
  },
  { ...closed, description: "A message of an agent to a person" },
);
export type AgentNotification = Static<typeof AgentNotification>;
