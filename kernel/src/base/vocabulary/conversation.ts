import { Type, type Static, type TProperties } from "typebox";
import { closed, HashOf, Json, PathOf, Timestamp } from "./common.ts";
import { ProcessKind } from "./principal.ts";
import { ToolResult } from "./tool-result.ts";

const Id = (description: string) => Type.String({ minLength: 1, maxLength: 128, description });
const Count = (description: string) => Type.Integer({ minimum: 0, description });
const Seq = (description: string) => Type.Integer({ minimum: 1, description });

export const ProcessState = Type.Union(
  [
    Type.Literal("Waiting", { description: "It waits until fewer processes run" }),
    Type.Literal("Running", { description: "It works" }),
    Type.Literal("WaitingForInput", { description: "It waits for a message" }),
    Type.Literal("WaitingForApproval", { description: "It waits until a person decided" }),
    Type.Literal("Done", { description: "It has ended with an answer" }),
    Type.Literal("Failed", { description: "It has ended with an error" }),
    Type.Literal("Cancelled", { description: "It was stopped" }),
  ],
  { description: "What a process does" },
);
export type ProcessState = Static<typeof ProcessState>;

/** States in which a process has nothing more to do. */
export const endedStates: ReadonlySet<ProcessState> = new Set(["Done", "Failed", "Cancelled"]);

export const Process = Type.Object(
  {
    id: Id("Unique; in the order of creation"),
    kind: ProcessKind,
    name: Type.Optional(Type.String({ description: "A worker's kind, as the manifest names it" })),
    state: ProcessState,
    parent: Type.Optional(Id("The process that started it")),
    task: Type.Optional(Type.String({ description: "What it was asked to do" })),
    covers: Type.Optional(
      Type.Tuple([Seq("The first seq"), Seq("The last seq")], {
        description: "The entries that a compaction summarises, both included",
      }),
    ),
    status: Type.Optional(Type.String({ description: "How far it is, in its own words" })),
    model: Type.Optional(Type.String({ description: "The model that it uses, as `provider/model`" })),
    started: Timestamp("When it began"),
    ended: Type.Optional(Timestamp("When it ended")),
    interactive: Type.Optional(
      Type.Literal(true, { description: "It does not end with its report, but waits for a follow-up" }),
    ),
    expires: Type.Optional(Timestamp("While it waits for a follow-up: when it ends if none comes")),
    error: Type.Optional(
      Type.Object(
        {
          code: Type.String({ description: "The name of an error, as in the protocol" }),
          class: Type.Optional(Type.String({ description: "The class of a model's error" })),
          message: Type.String({ description: "A sentence for a person" }),
        },
        { ...closed, description: "Why it failed, or why it was stopped, where a reason was given" },
      ),
    ),
  },
  { ...closed, description: "A process of a mind in a conversation" },
);
export type Process = Static<typeof Process>;

/** True for a worker that has reported and keeps its context for a follow-up. One that is paused has not reported. */
export function waitsForFollowUp({ state, expires }: Process): boolean {
  return state === "WaitingForInput" && expires !== undefined;
}

const type = { description: "What kind of part it is" };
export const Part = Type.Union(
  [
    Type.Object(
      { type: Type.Literal("text", type), text: Type.String({ description: "The text" }) },
      { ...closed, description: "A text" },
    ),
    Type.Object(
      {
        type: Type.Literal("reasoning", type),
        text: Type.String({ description: "The text" }),
        opaque: Type.Optional(
          Type.Object(
            { model: Type.String({ description: "The model that made it" }), value: Json("Its own data") },
            { ...closed, description: "Data that the same model gets again, byte by byte" },
          ),
        ),
      },
      { ...closed, description: "What a model thought" },
    ),
    Type.Object(
      {
        type: Type.Literal("image", type),
        media_type: Type.String({ description: "An IANA media type, such as `image/png`" }),
        object: HashOf("The picture"),
        bytes: Count("Its size"),
      },
      { ...closed, description: "A picture" },
    ),
    Type.Object(
      {
        type: Type.Literal("file", type),
        path: PathOf("The file; relative to the workspace"),
        range: Type.Optional(
          Type.Tuple([Seq("The first line"), Seq("The last line")], { description: "Some of its lines" }),
        ),
      },
      { ...closed, description: "A file of the workspace" },
    ),
  ],
  { description: "A part of a message" },
);
export type Part = Static<typeof Part>;

const common = {
  seq: Seq("Its number in the conversation, from 1"),
  id: Id("Unique. Entries of one message have the same id: parts of it, and then the whole"),
  conversation: Id("The conversation; in a mind's own log, the mind's agent"),
  process: Id("The process that it belongs to"),
  created: Timestamp("When it was written"),
  origin: Type.String({
    description:
      "Where the text comes from: `person`, `model`, `workspace`, `agent:<id>`, `web`, `schedule`, `decision` (the kernel says what a person decided) and others",
  }),
  turn: Id("The id of the entry that began the turn"),
  sources: Type.Optional(Type.Array(Type.String(), { description: "What the text was made from" })),
  tainted: Type.Optional(
    Type.Literal(true, { description: "Something that led to it was not said by a person, or found here" }),
  ),
  by: Type.Optional(Type.String({ description: "Who changed it: the id of an interceptor" })),
  to: Type.Optional(
    Type.String({
      description:
        "Where an answer is sent, if not to the person at a client. No kernel of this version sends it",
    }),
  ),
};
const kind = { description: "What the entry is" };

const entry = <Kind extends string, Fields extends TProperties>(
  name: Kind,
  description: string,
  fields: Fields,
) => Type.Object({ ...common, kind: Type.Literal(name, kind), ...fields }, { ...closed, description });

const said = {
  text: Type.String({ description: "The text" }),
  covers: Type.Optional(
    Type.Tuple([Seq("The first seq"), Seq("The last seq")], {
      description: "The entries that it stands for, both included",
    }),
  ),
};
const reference = {
  ref: Id("The id of the action or question"),
  state: Type.String({ description: "Its state" }),
};

const TokenCounts = {
  input_tokens: Count("Tokens of the request, without those read from a cache or written to one"),
  output_tokens: Count("Tokens of the answer, with reasoning"),
  usd: Type.Optional(Type.Number({ minimum: 0, description: "US dollars, where a price is known" })),
};

export const Entry = Type.Union(
  [
    entry("message", "A message of a person or of a model", {
      role: Type.Union([Type.Literal("user"), Type.Literal("assistant")], { description: "Who speaks" }),
      parts: Type.Array(Part, { description: "What was said" }),
      partial: Type.Optional(
        Type.Literal(true, {
          description: "What came since the last partial entry of this id; the whole message replaces them",
        }),
      ),
      cut: Type.Optional(
        Type.Union(
          [
            Type.Literal("length", { description: "It reached the model's output limit" }),
            Type.Literal("filtered", { description: "The model's provider withheld the rest" }),
          ],
          { description: "Why the answer ends early" },
        ),
      ),
    }),
    entry("request", "A request to a model, written before it is sent", {
      attempt: Type.Integer({ minimum: 1, description: "Which attempt at this message it is" }),
      model: Type.String({ description: "The model, as `provider/model`" }),
      message: Id("The id that the answer will have"),
      digest: HashOf("The request"),
    }),
    entry("tool_call", "A call that a model made", {
      call: Id("Names the call within the conversation"),
      tool: Type.String({ description: "The tool" }),
      arguments: Json("What it is called with"),
      opaque: Type.Optional(
        Type.Object(
          { model: Type.String({ description: "The model that made it" }), value: Json("Its own data") },
          { ...closed, description: "Data of the call that the same model gets again, byte by byte" },
        ),
      ),
    }),
    entry("tool_result", "What became of a call", {
      call: Id("The call"),
      result: ToolResult,
    }),
    entry("conclusion", "What a branch or worker found", said),
    entry("summary", "What replaces earlier entries in the context", {
      ...said,
      tokens: Type.Optional(Count("Tokens of the context that begins with it, an estimate")),
    }),
    entry("notice", "What the kernel tells the person", said),
    entry("process", "A process began, changed or ended", { value: Process }),
    entry(
      "action",
      "An action that a process proposed; again when it has ended. Only its end, of the origin `kernel`, if nothing here waited for a decision: policy allowed it, or it was approved elsewhere",
      reference,
    ),
    entry("ask", "A question to a person that a process waits for; again when it has ended", reference),
    entry("usage", "What one attempt used", {
      model: Type.String({ description: "The model, as `provider/model`" }),
      ...TokenCounts,
      reasoning_tokens: Type.Optional(Count("The part of the output that was reasoning")),
      cache_read_tokens: Type.Optional(Count("Tokens that the provider read from its cache")),
      cache_write_tokens: Type.Optional(Count("Tokens that the provider wrote to its cache")),
    }),
    entry("block", "A block of the context was changed", {
      name: Type.String({ description: "The block" }),
      text: Type.String({ description: "Its whole text from now on" }),
    }),
    entry("pin", "A person pinned an entry, so that it stays in the context, or let it go", {
      entry: Id("The entry"),
      pinned: Type.Boolean({ description: "Whether it is pinned" }),
    }),
    entry("meta", "The title, the model or the state of the conversation was changed, or it was read", {
      title: Type.Optional(Type.String({ description: "The title from now on" })),
      model: Type.Optional(Type.String({ description: "The model from now on; empty for the route's" })),
      state: Type.Optional(Type.String({ description: "`open` or `archived`" })),
      read: Type.Optional(Seq("The last entry that the person has seen")),
    }),
    entry("redaction", "A person had texts removed from the log, for good", {
      entries: Type.Array(
        Type.Unsafe<Readonly<Record<string, unknown>>>(Type.Unknown({ description: "An entry" })),
        {
          description:
            "The entries as they are from now on, with their old seqs: `[redacted by the person]` stands in place of what was removed",
        },
      ),
      contexts: Type.Optional(
        Type.Array(Seq("A seq"), { description: "The records of contexts that had the texts, and are gone" }),
      ),
    }),
    entry("void", "A message does not count: its attempt failed, or it was empty", { message: Id("Its id") }),
  ],
  { description: "An entry of a conversation" },
);
export type Entry = Static<typeof Entry>;
export type EntryOf<Kind extends Entry["kind"]> = Extract<Entry, { kind: Kind }>;

/** The origin of an action's entry that only shows that a change was made: no process reads it or answers. */
export const noteOrigin = "kernel";

/** The origin of what a schedule says: the words of a manifest that a person accepted. */
export const scheduleOrigin = "schedule";

/** Returns the entries that a redaction put in the place of others, with the seqs of those. */
export function replacedBy({ entries }: EntryOf<"redaction">): readonly Entry[] {
  return entries as unknown as readonly Entry[];
}

export const Conversation = Type.Object(
  {
    id: Id("Unique; in the order of creation"),
    agent: Type.String({ description: "The agent whose mind it belongs to" }),
    title: Type.String({ description: "Its title" }),
    state: Type.Union(
      [
        Type.Literal("open", { description: "It can be continued" }),
        Type.Literal("archived", { description: "It was put away" }),
      ],
      { description: "Whether it can be continued" },
    ),
    created: Timestamp("When it was opened"),
    updated: Timestamp("When its last entry was written, other than that it was read"),
    seq: Count("The seq of its last entry"),
    model: Type.String({ description: "The model of its channel, as `provider/model`" }),
    tainted: Type.Array(Type.String(), {
      description: "The sources for which nothing in it is approved automatically",
    }),
    unread: Count("Answers and notices that the person has not seen, nor answered or decided anything after"),
    processes: Type.Array(Process, { description: "Its processes, in the order in which they began" }),
    context: Type.Object(
      {
        tokens: Count(
          "Tokens of the channel's context: as the provider counted its last request and the answer, or an estimate after a summary",
        ),
        limit: Count("Tokens that its model reads"),
      },
      { ...closed, description: "How much of the model's window is used" },
    ),
    usage: Type.Object(TokenCounts, { ...closed, description: "What it used in all" }),
    forked_from: Type.Optional(
      Type.Object(
        { conversation: Id("The conversation"), seq: Count("The last entry that both have") },
        { ...closed, description: "Where it was forked from" },
      ),
    ),
  },
  { ...closed, description: "A conversation with a mind" },
);
export type Conversation = Static<typeof Conversation>;
