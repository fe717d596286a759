import { Type, type Static } from "typebox";
import { closed } from "./common.ts";
import { ConversationId } from "./conversation-requests.ts";
import { Named } from "./request-fields.ts";

export const WhyQuery = Type.Object({
  id: ConversationId,
  entry: Type.Optional(Named("The id of the answer's entry; default the last answer to the person")),
});
export type WhyQuery = Static<typeof WhyQuery>;

/** A memory that an answer may rest on, as its model read it. */
export const SeenMemory = Type.Object(
  {
    id: Type.String({ description: "Its id at that time" }),
    type: Type.String({ description: "Its type; may be empty" }),
    text: Type.String({ description: "What it said" }),
    query: Type.Optional(Type.String({ description: "What was searched for" })),
    read: Type.Union(
      [
        Type.Literal("now", { description: "Recalled since the person's last message before the answer" }),
        Type.Literal("before", { description: "Recalled earlier, and still in the context" }),
        Type.Literal("summarised", { description: "Recalled earlier, in turns that were summarised since" }),
        Type.Literal("bulletin", {
          description: "Recalled or saved by the process that wrote the bulletin, or remembered since then",
        }),
      ],
      { description: "How it came into the context" },
    ),
    state: Type.Union(
      [
        Type.Literal("remembered", { description: "The mind remembers it as it was" }),
        Type.Literal("corrected", {
          description: "A person has corrected it since; `present` has the new text",
        }),
        Type.Literal("gone", { description: "Forgotten, or replaced by another one" }),
      ],
      { description: "What became of it" },
    ),
    present: Type.Optional(
      Type.Object(
        {
          id: Type.String({ description: "Its id, for `lares/memory/correct` and `lares/memory/forget`" }),
          text: Type.String({ description: "What it says" }),
          conversation: Type.Optional(
            Type.String({ description: "The id of the conversation in which it was saved" }),
          ),
          created: Type.Optional(Type.String({ description: "When it was saved" })),
        },
        { ...closed, description: "The memory as it is now; absent if it is gone" },
      ),
    ),
  },
  { ...closed, description: "A memory" },
);
export type SeenMemory = Static<typeof SeenMemory>;

const presentText = Type.Boolean({ description: "It says the same now" });

/** What a model had before it, beside the conversation itself, when it wrote an answer. */
export const Why = Type.Object({
  entry: Type.String({ description: "The id of the answer's entry" }),
  model: Type.String({ description: "The model that was asked, as `provider/model`" }),
  asked: Type.String({ description: "When it was asked" }),
  blocks: Type.Array(
    Type.Object(
      {
        name: Type.String({ description: "The block" }),
        text: Type.String({ description: "What it said then" }),
        present: presentText,
      },
      { ...closed, description: "A block" },
    ),
    { description: "The blocks that were not empty" },
  ),
  bulletin: Type.Optional(
    Type.Object(
      { text: Type.String({ description: "What it said then" }), present: presentText },
      { ...closed, description: "The bulletin; absent if there was none" },
    ),
  ),
  memories: Type.Array(SeenMemory, {
    description: "Those that were recalled for the answer first; at most 200",
  }),
  summaries: Type.Integer({
    minimum: 0,
    description: "How many summaries stood for earlier turns",
  }),
});
export type Why = Static<typeof Why>;
