import { Type, type Static } from "typebox";
import { closed } from "../../base/vocabulary/common.ts";
import { typeNamePattern } from "../../base/vocabulary/shared-type.ts";

/** An item of `types`. */
export const SharedType = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: typeNamePattern,
      description: "The type's name, without the extension, as in Person",
    }),
    version: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description:
          "The version of its schema; raise it with a change that older values do not fit. Default 1",
        default: 1,
      }),
    ),
    key: Type.String({
      minLength: 1,
      maxLength: 128,
      description: "The property that tells values apart; it has to be required and a string",
      examples: ["id"],
    }),
    description: Type.Optional(
      Type.String({ maxLength: 1024, description: "What its values are, in a sentence" }),
    ),
    schema: Type.Record(Type.String(), Type.Unknown(), {
      description: "JSON Schema of its values, with type: object",
    }),
  },
  { ...closed, description: "Values that agents of the workspace share" },
);
export type SharedType = Static<typeof SharedType>;
