import { Type, type Static } from "typebox";
import { closed } from "../../base/vocabulary/common.ts";

export const EventDeclaration = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 128,
      pattern: "^[A-Za-z][A-Za-z0-9_]*$",
      description: "The event's name, without the publisher, as in PersonIdentified",
    }),
    version: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: "The version of its fields; events carry it. Default 1",
        default: 1,
      }),
    ),
    description: Type.Optional(
      Type.String({ maxLength: 1024, description: "When it is emitted, in a sentence" }),
    ),
    schema: Type.Record(Type.String(), Type.Unknown(), {
      description: "JSON Schema of its fields, with type: object",
    }),
  },
  { ...closed, description: "An event that the extension emits to others" },
);
export type EventDeclaration = Static<typeof EventDeclaration>;
