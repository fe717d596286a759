import { Type, type Static } from "typebox";
import { closed } from "./common.ts";

/** Where the text of a forgotten memory still stands, and what went with it. */
export const stillSaidFields = {
  bulletin: Type.Optional(
    Type.Literal(true, {
      description:
        "The mind's bulletin was written from it and is emptied, until the mind writes the next one",
    }),
  ),
  blocks: Type.Optional(
    Type.Array(Type.String({ description: "A block" }), {
      description:
        "The blocks of all conversations that have the text, word by word, for `lares/conversations/editBlock`",
    }),
  ),
  conversations: Type.Optional(
    Type.Array(
      Type.Object(
        {
          id: Type.String({ description: "The conversation's id" }),
          title: Type.String({ description: "Its title" }),
        },
        { ...closed, description: "A conversation" },
      ),
      {
        description:
          "The conversations in whose transcripts the text stands, word by word, for `lares/conversations/redact`. The mind does not recall it from there by itself, but its search of a conversation finds it",
      },
    ),
  ),
};
const StillSaid = Type.Object(stillSaidFields);
export type StillSaid = Static<typeof StillSaid>;
