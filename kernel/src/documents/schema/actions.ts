import { Type, type Static } from "typebox";
import { closed } from "../../base/vocabulary/common.ts";

/** An item of `actions`. */
export const ActionDeclaration = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: "^[A-Za-z][A-Za-z0-9_-]*$",
      description: "What people and agents call it by: letters, digits, dashes",
    }),
    title: Type.String({
      minLength: 1,
      maxLength: 128,
      description: "What it does, in a few words; a parameter's name in braces stands for its value",
      examples: ["Create album {name}"],
    }),
    description: Type.Optional(
      Type.String({ maxLength: 4096, description: "What it does, for people and language models" }),
    ),
    handler: Type.String({
      minLength: 1,
      maxLength: 128,
      description: "The function under actions of the program that returns its effects",
    }),
    parameters: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: "JSON Schema of its parameters, with type: object; default no parameters are checked",
      }),
    ),
  },
  {
    ...closed,
    description: "A change that people, minds and other agents can have this one propose, by its name",
  },
);
export type ActionDeclaration = Static<typeof ActionDeclaration>;
