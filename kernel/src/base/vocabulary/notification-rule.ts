import { Type, type Static } from "typebox";
import { closed, Severity } from "./common.ts";
import { ExtensionId } from "./extension.ts";

export const NotificationChannel = Type.Union(
  [
    Type.Literal("editor", { description: "A message of the editor" }),
    Type.Literal("terminal", { description: "A line of `lares run`" }),
    Type.Literal("os", {
      description: "A notification of the operating system, from a client that can show one",
    }),
  ],
  { description: "Where a notification is shown" },
);
export type NotificationChannel = Static<typeof NotificationChannel>;

export const notificationChannels: readonly NotificationChannel[] = ["editor", "terminal", "os"];
/** Where a notification is shown for which no rule is written. */
export const defaultChannels: readonly NotificationChannel[] = ["editor", "terminal"];

/** Says which channels show the notifications of some agents. */
export const NotificationRule = Type.Object(
  {
    agents: Type.Optional(
      Type.Array(ExtensionId, { maxItems: 256, description: "Agents that it is about; default all" }),
    ),
    severities: Type.Optional(
      Type.Array(Severity, {
        maxItems: 3,
        uniqueItems: true,
        description: "Severities that it is about; default all",
      }),
    ),
    channels: Type.Array(NotificationChannel, {
      maxItems: 3,
      uniqueItems: true,
      description:
        "Where they are shown; an empty list: nowhere, and in your own document they count as seen",
    }),
  },
  { ...closed, description: "Which channels show the notifications of some agents" },
);
export type NotificationRule = Static<typeof NotificationRule>;
