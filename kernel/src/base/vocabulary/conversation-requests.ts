import { Type, type Static } from "typebox";
import { pictureBounds, type PictureType, pictureTypes } from "../pictures.ts";
import { closed } from "./common.ts";
import { Conversation, Entry, Part } from "./conversation.ts";
import { AgentId, Limit, Named, OfAgent } from "./request-fields.ts";

/** The longest message that a person can send, characters. */
export const maxMessageCharacters = 1_000_000;

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
      { default: "auto", description: "How to search; messages are searched by words" },
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

export const ContextSection = Type.Object(
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
