import { Type, type Static } from "typebox";
import { NotificationChannel } from "../../base/vocabulary/notification-rule.ts";

/** `initializationOptions.lares` of the client's `initialize`. */
export const SessionOptions = Type.Object(
  {
    trusted: Type.Optional(
      Type.Boolean({
        description:
          "`true` is a person's explicit act: it accepts the workspace's documents as they are now. `false`: this connection is untrusted, whatever was accepted. Omitted: an earlier acceptance of the same digest counts",
      }),
    ),
    approvals: Type.Optional(
      Type.Union(
        [
          Type.Literal("client", { description: "The client has a view of its own for approvals" }),
          Type.Literal("showMessageRequest", {
            description: "The kernel asks with `window/showMessageRequest`, one action at a time",
          }),
          Type.Literal("none", { description: "This client does not decide about actions" }),
        ],
        { description: "How a person at this client decides about actions" },
      ),
    ),
    notifications: Type.Optional(
      Type.Array(NotificationChannel, {
        maxItems: 3,
        uniqueItems: true,
        description:
          "Where this client can show notifications of agents. It gets `lares/notify` only for those that the person wants there. Omitted: editor and terminal",
      }),
    ),
    locale: Type.Optional(
      Type.String({
        maxLength: 64,
        description: "The person's language, such as en; the kernel speaks English",
      }),
    ),
  },
  { description: "`initializationOptions.lares` of the request `initialize`" },
);
export type SessionOptions = Static<typeof SessionOptions>;
