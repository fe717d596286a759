import { maxMessageCharacters } from "./bounds.ts";
import { Type, type Static } from "typebox";
import { pictureBounds, type PictureType, pictureTypes } from "../pictures.ts";
import { closed } from "./common.ts";
import { Conversation, Entry, Part } from "./conversation.ts";
import { AgentId, Limit, Named, OfAgent } from "./request-fields.ts";

export const ConversationId = Named("The conversation's id");
export const ModelName = Type.String({
  maxLength: 322,
  description: "`provider/model`; empty for the one of the route",
  examples: ["anthropic/claude-x"],
});
const Cursor = (description: string) => Type.String({ minLength: 1, maxLength: 256, description });
const State = Type.Union(Conversation.properties.state.anyOf, { description: "Only those in this state" });

export const OpenConversation = Type.Object({
  agent: AgentId,
  title: Type.Optional(
    Type.String({ maxLength: 256, description: "Its title; default the beginning of the first message" }),
  ),
  model: Type.Optional(ModelName),
});
export type OpenConversation = Static<typeof OpenConversation>;

export const ConversationQuery = Type.Object({
  agent: OfAgent,
  state: Type.Optional(State),
  text: Type.Optional(
    Type.String({
      maxLength: 256,
      description: "Only those in whose title or entries all of these words are",
    }),
  ),
  limit: Type.Optional(Limit),
  cursor: Type.Optional(Cursor("Where the page before this one ended")),
});
export type ConversationQuery = Static<typeof ConversationQuery>;

export const ConversationPage = Type.Object({
  items: Type.Array(Conversation, { description: "The last used first" }),
  cursor: Type.Optional(Cursor("For the next page, if there is one")),
});
export type ConversationPage = Static<typeof ConversationPage>;

const [TextPart, , , FilePart] = Part.anyOf;
const SentPicture = Type.Object(
  {
    type: Type.Literal("image", { description: "What kind of part it is" }),
    media_type: Type.Unsafe<PictureType>(
      Type.Union(
        pictureTypes.map((mediaType) => Type.Literal(mediaType)),
        { description: "Its media type, which its first bytes must show too" },
      ),
    ),
    base64: Type.String({
      minLength: 4,
      maxLength: (pictureBounds.bytes / 3) * 4,
      description: "Its bytes in base64, with padding and without line breaks",
    }),
  },
  {
    ...closed,
    description: `A picture: at most ${pictureBounds.bytes} bytes, and ${pictureBounds.side} pixels a side. A message holds at most ${pictureBounds.perMessage}, together at most ${pictureBounds.messageBytes} bytes. Its entry has its hash; a model gets its bytes`,
  },
);
/** A part of a message that a person can send. */
export const SentPart = Type.Union([TextPart, FilePart, SentPicture], { description: "A part of a message" });
export type SentPart = Static<typeof SentPart>;

export const SendMessage = Type.Object({
  id: ConversationId,
  text: Type.Optional(
    Type.String({ maxLength: maxMessageCharacters, description: "The message; or else `parts`" }),
  ),
  parts: Type.Optional(
    Type.Array(SentPart, {
      minItems: 1,
      maxItems: 64,
      description: "The message in parts, instead of `text`",
    }),
  ),
  key: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description:
        "Chosen by the client: a message that is sent again with the same key is not written again",
    }),
  ),
});
export type SendMessage = Static<typeof SendMessage>;

export const ConversationEntries = Type.Object({
  id: Type.Optional(ConversationId),
  agent: Type.Optional(
    Named("Instead of `id`: the agent whose activity log to read, about no single conversation"),
  ),
  before: Type.Optional(Type.Integer({ minimum: 1, description: "Only entries before this seq" })),
  after: Type.Optional(Type.Integer({ minimum: 0, description: "Only entries behind this seq" })),
  process: Type.Optional(Named("Only those of this process")),
  kinds: Type.Optional(
    Type.Array(Type.String({ maxLength: 32, description: "A kind of entry" }), {
      maxItems: 32,
      description: "Only entries of these kinds",
    }),
  ),
  limit: Type.Optional(Limit),
});
export type ConversationEntries = Static<typeof ConversationEntries>;

export const EntriesPage = Type.Object({
  items: Type.Array(Entry, {
    description: "In their order: the first ones behind `after` if that is given, else the last ones",
  }),
  total: Type.Integer({ minimum: 0, description: "How many entries match, without the limit" }),
});
export type EntriesPage = Static<typeof EntriesPage>;

export const ConversationSearch = Type.Object({
  agent: AgentId,
  query: Type.String({ minLength: 1, maxLength: 1_024, description: "Words, or a question" }),
  mode: Type.Optional(
    Type.Union(
      [
        Type.Literal("auto", { description: "Both, where an embedder is ready" }),
        Type.Literal("text", { description: "By words" }),
        Type.Literal("vector", { description: "By meaning" }),
      ],
      { default: "auto", description: "How to search; blocks are searched by words" },
    ),
  ),
  in: Type.Optional(
    Type.Array(
      Type.Union(
        [
          Type.Literal("messages", { description: "What was said and summarised" }),
          Type.Literal("memories", { description: "What the mind knows" }),
          Type.Literal("blocks", { description: "The blocks of the context" }),
        ],
        { description: "Where" },
      ),
      { minItems: 1, maxItems: 3, description: "Where to search; default everywhere" },
    ),
  ),
  limit: Type.Optional(Limit),
});
export type ConversationSearch = Static<typeof ConversationSearch>;

export const SearchPage = Type.Object({
  items: Type.Array(
    Type.Object({
      entry: Type.Optional(Entry),
      memory: Type.Optional(
        Type.Unknown({ description: "The piece of knowledge, as in `lares/memory/query`" }),
      ),
      block: Type.Optional(
        Type.Object(
          {
            name: Type.String({ description: "The block" }),
            conversation: Type.Optional(ConversationId),
          },
          { ...closed, description: "The block of the context" },
        ),
      ),
      score: Type.Number({ description: "How well it fits; only to be compared within one list" }),
      text: Type.String({ description: "The place that fits" }),
    }),
    { description: "The best first" },
  ),
});
export type SearchPage = Static<typeof SearchPage>;

const ContextSection = Type.Object(
  {
    name: Type.String({
      description: "`identity`, `role`, `tools`, `blocks`, `bulletin`, `summaries`, `history`, `suffix`",
    }),
    tokens: Type.Integer({ minimum: 0, description: "An estimate" }),
    text: Type.String({ description: "What the model gets; of contents that are not text, a sentence" }),
    cached: Type.Optional(Type.Boolean({ description: "The provider may have it already" })),
  },
  { ...closed, description: "A section of the context" },
);
export const ConversationContext = Type.Object({
  sections: Type.Array(ContextSection, { description: "In their order" }),
  model: Type.String({ description: "The model that would be asked, as `provider/model`" }),
  tokens: Type.Integer({
    minimum: 0,
    description:
      "Tokens of the whole, for the channel as in the conversation's `context`; those of the sections are estimates by themselves",
  }),
  limit: Type.Integer({ minimum: 0, description: "Tokens that the model reads" }),
});
export type ConversationContext = Static<typeof ConversationContext>;

export const Delta = Type.Object(
  {
    process: Type.String({ description: "The process whose model writes" }),
    message: Type.String({ description: "The id of the message that it becomes" }),
    part: Type.Integer({ minimum: 0, description: "Which part of the message, from 0" }),
    type: Type.Union(
      [
        Type.Literal("text", { description: "A piece of an answer" }),
        Type.Literal("reasoning", { description: "A piece of what a model thinks" }),
        Type.Literal("tool_call", { description: "A piece of a call's arguments, as JSON" }),
      ],
      { description: "What it is a piece of" },
    ),
    text: Type.String({ description: "The piece" }),
  },
  { ...closed, description: "A piece of a message that is not finished" },
);
export type Delta = Static<typeof Delta>;

export const RedactConversation = Type.Object({
  id: ConversationId,
  entry: Type.Optional(Named("The id of the entry whose texts to remove")),
  text: Type.Optional(
    Type.String({
      minLength: 4,
      maxLength: 10_000,
      description: "Instead of `entry`: the text to remove, as it is written, wherever it stands",
    }),
  ),
  preview: Type.Optional(
    Type.Boolean({
      default: false,
      description: "Removes nothing, and returns what has the text and what was made from it",
    }),
  ),
  with_derived: Type.Optional(
    Type.Boolean({
      default: false,
      description: "Removes what was made from it too: see `derived` and `memories` of the result",
    }),
  ),
});
export type RedactConversation = Static<typeof RedactConversation>;

export const RemovedCopies = Type.Object(
  {
    place: Type.String({ description: "What was cleaned outside of the logs, such as `questions`" }),
    count: Type.Integer({ minimum: 1, description: "How many of them had the text" }),
  },
  { description: "Copies of a text that were removed" },
);
export const RemainingCopy = Type.Object(
  {
    place: Type.String({ description: "What still has the text, such as `an action`" }),
    name: Type.String({ description: "Its id or path" }),
    why: Type.String({ description: "Why it stays, and what the person can do" }),
  },
  { description: "A copy of a text that stays" },
);
/** The copies of a text outside of the conversations that it was removed from. */
export const forgottenFields = {
  removed: Type.Array(RemovedCopies, {
    description: "The copies that were removed outside of the conversations",
  }),
  remains: Type.Array(RemainingCopy, { description: "The copies that are known and stay" }),
};

export const RedactedConversation = Type.Object({
  entries: Type.Array(Type.String(), { description: "The ids of the entries that had the text" }),
  conversations: Type.Array(Type.String(), {
    description:
      "The conversations whose own entries they are, and those whose models read the text, or what was made of it, at the beginning of their contexts",
  }),
  memories: Type.Array(
    Type.Object({
      id: Type.String({ description: "Its id, for `lares/memory/forget`" }),
      type: Type.String({ description: "Its type" }),
      text: Type.String({ description: "What the mind remembers" }),
    }),
    {
      description:
        "What the mind remembered since then in these conversations, or from a look at all of its conversations, at most 100: it may say the same in other words. `with_derived` removes it; after that, those that are left",
    },
  ),
  derived: Type.Array(
    Type.Object({
      conversation: Type.String({ description: "Where it stands: a conversation, or the id of the agent" }),
      entry: Type.String({ description: "The id of the entry" }),
      kind: Type.String({ description: "The kind of the entry" }),
      text: Type.String({ description: "Its first 200 characters" }),
    }),
    {
      description:
        "Entries that were made from what was removed, at most 100: the rest of the model's turn, and later conclusions, summaries, blocks and bulletins. They may say the same in other words, and stay unless `with_derived` is given",
    },
  ),
  derived_total: Type.Integer({ minimum: 0, description: "The number of such entries" }),
  ...forgottenFields,
});
export type RedactedConversation = Static<typeof RedactedConversation>;

/** Characters of a block; manifests allow less. */
const maxBlockCharacters = 100_000;

export const EditBlock = Type.Object({
  agent: AgentId,
  id: Type.Optional(Named("The conversation, for a block that each conversation has for itself")),
  name: Named("The block"),
  text: Type.String({
    maxLength: maxBlockCharacters,
    description: "Its whole text from now on; may be empty",
  }),
  forget: Type.Optional(
    Type.Boolean({ default: false, description: "Removes what it said before, for good" }),
  ),
});
export type EditBlock = Static<typeof EditBlock>;

export const Block = Type.Object(
  {
    name: Type.String({ description: "Its name" }),
    description: Type.String({ description: "What it is for, as the manifest says" }),
    text: Type.String({ description: "Its whole text" }),
    limit: Type.Integer({ minimum: 0, description: "Characters that fit" }),
    read_only: Type.Boolean({ description: "The mind cannot change it" }),
    scope: Type.Union(
      [
        Type.Literal("mind", { description: "All conversations of the mind share it" }),
        Type.Literal("conversation", { description: "Each conversation has its own" }),
      ],
      { description: "Which conversations have it" },
    ),
    namespace: Type.Optional(
      Type.String({ description: "The shared memory that keeps it, for all minds with this block" }),
    ),
    sources: Type.Optional(
      Type.Array(Type.String(), {
        description: "What the text of a shared block was made from; another mind's also names that mind",
      }),
    ),
    absent: Type.Optional(Type.String({ description: "Why the mind has no such block, in a sentence" })),
  },
  { ...closed, description: "A block of a mind: a text that its conversations always have before them" },
);
export type Block = Static<typeof Block>;
