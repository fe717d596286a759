import { Type, type Static } from "typebox";

/** `initializationOptions.lares` of the client's `initialize`. */
export const SessionOptions = Type.Object({
  trusted: Type.Optional(
    Type.Boolean({
      description:
        "true: a person accepts the workspace's documents as they are now; false: this connection is untrusted whatever was accepted; omitted: an earlier acceptance of the same digest counts",
    }),
  ),
  approvals: Type.Optional(
    Type.Union([Type.Literal("client"), Type.Literal("showMessageRequest"), Type.Literal("none")]),
  ),
  locale: Type.Optional(Type.String({ maxLength: 64 })),
});
export type SessionOptions = Static<typeof SessionOptions>;
