import { Type, type Static } from "typebox";
import { Action } from "../../base/vocabulary/action.ts";
import { Agent } from "../../base/vocabulary/agent.ts";
import { Ask } from "../../base/vocabulary/ask.ts";
import { Conversation, Entry } from "../../base/vocabulary/conversation.ts";
import { Delta } from "../../base/vocabulary/conversation-requests.ts";
import { NotificationChannel } from "../../base/vocabulary/notification-rule.ts";
import { NotifiedSchedule } from "../../base/vocabulary/notification.ts";
import { HashOf, Severity } from "../../base/vocabulary/common.ts";
import { TraceEntry } from "../../base/vocabulary/trace.ts";
import { defineParams } from "../define.ts";
import { Subscription } from "./traces.ts";

/** The kernel's notifications to its clients, by method. */
export const serverNotifications = defineParams({
  "lares/agents/changed": {
    about:
      "An agent's state or description changed, or it handled events. At most once a second for an agent that only handled events. While a client does not read, only the last one of each agent waits for it.",
    params: Agent,
  },
  "lares/jobs/changed": {
    about:
      "An agent's jobs changed or made progress; `lares/jobs/list` returns them. At most once a second for each agent. While a client does not read, only one of each agent waits for it.",
    params: Type.Object({ agent: Type.String({ description: "The agent's id" }) }),
  },
  "lares/actions/changed": {
    about:
      "An action was proposed or its state changed. The effects come without `diff`. While a client does not read, only the last one of each action waits for it.",
    params: Action,
  },
  "lares/asks/changed": {
    about:
      "A question was asked, or it ended. While a client does not read, only the last one of each question waits for it.",
    params: Ask,
  },
  "lares/decisions/changed": {
    about:
      "A decision was made, revoked or edited; `lares/decisions/list` returns them. It is not sent when a decision is used. While a client does not read, only one waits for it.",
    params: Type.Object({}),
  },
  "lares/traces/entry": {
    about:
      "A trace of a subscription that `lares/traces/follow` began. While a client does not read, up to 4 MiB of them wait for it; the oldest give way.",
    params: Type.Object({ subscription: Subscription, entry: TraceEntry }),
  },
  "lares/conversations/entry": {
    about: "An entry of a conversation that `lares/conversations/follow` began to follow.",
    params: Type.Object({ subscription: Subscription, entry: Entry }),
  },
  "lares/conversations/delta": {
    about:
      "What a model wrote since the last one. It comes before the entry whose `id` is `message`, which replaces all of them, or before that message's `void`. At most one in 16 ms for each part; none is lost.",
    params: Type.Object({ subscription: Subscription, ...Delta.properties }),
  },
  "lares/conversations/changed": {
    about:
      "A conversation changed; sent after its entries, at most ten times a second. While a client does not read, only the last one of each conversation waits for it.",
    params: Conversation,
  },
  "lares/conversations/deleted": {
    about: "A conversation was deleted. Nothing follows about it.",
    params: Type.Object({ id: Type.String({ description: "The conversation's id" }) }),
  },
  "lares/notify": {
    about:
      "An agent has a message for the person. The kernel keeps it: `lares/notifications/list` returns what nobody has seen, so it is not sent again to a client that comes later. While a client does not read, only the last one of each notification waits for it.",
    params: Type.Object({
      id: Type.Optional(
        Type.String({ description: "Its id, for `lares/notifications/dismiss`; earlier kernels have none" }),
      ),
      count: Type.Optional(
        Type.Integer({
          minimum: 1,
          description:
            "How often the agent has said it, with the same title and severity, since somebody has seen it",
        }),
      ),
      held_back: Type.Optional(
        Type.Integer({
          minimum: 1,
          description: "How many of the agent's notifications were not kept; the words are the kernel's then",
        }),
      ),
      agent: Type.String({ description: "The id of the agent that says it" }),
      title: Type.String({ description: "The headline, in the agent's words" }),
      message: Type.String({ description: "The message, in the agent's words" }),
      severity: Severity,
      channels: Type.Optional(
        Type.Array(NotificationChannel, {
          description:
            "Where the person wants it, among the client's `notifications`; earlier kernels do not say",
        }),
      ),
      schedule: Type.Optional(NotifiedSchedule),
      actions: Type.Optional(
        Type.Array(
          Type.Object({
            title: Type.String({ description: "What to write on the button" }),
            actionId: Type.String({ description: "The id of an action that waits for the person" }),
            digest: HashOf("The action's digest, to be named in the approval"),
          }),
          { description: "What the person may approve from the message" },
        ),
      ),
    }),
  },
});
export type ServerNotification = keyof typeof serverNotifications;
export type NotificationParamsOf<Method extends ServerNotification> = Static<
  (typeof serverNotifications)[Method]["params"]
>;
