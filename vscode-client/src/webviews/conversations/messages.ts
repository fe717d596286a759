import * as v from "valibot";
import { pictureBounds, pictureTypes } from "../../../../kernel/src/base/pictures.ts";
import { reviewContract, Card } from "../review/messages.ts";
import { commonPushes, commonRequests, Count, Id, Nothing, Text } from "../shared/common-state.ts";
import { maxProcesses, ShownDelta, ShownEntry, ShownProcess } from "./entries.ts";

/** Conversations of one page of the list. */
export const maxRows = 100;
/** Entries that a page gets at a time. */
export const pageOfEntries = 200;
/** Entries that are pinned in one conversation. */
export const maxPinned = 256;
/** Files and quotations of one message. */
export const maxAttached = 32;
/** Characters of a message that a person writes. */
export const maxDraftCharacters = 200_000;
/** Paths that a completion offers. */
export const maxPaths = 40;
export const maxCommands = 200;
export const maxModels = 500;
/** Characters of one section of what the model sees. */
export const maxSectionCharacters = 400_000;
/** Proposals and questions that a conversation shows at once. */
export const maxDecisions = 200;

const Seq = v.pipe(v.number(), v.integer(), v.minValue(1));
const Figures = {
  inputTokens: Count,
  outputTokens: Count,
  usd: v.optional(v.pipe(v.number(), v.minValue(0))),
};

/** The activity of a conversation. Waiting for the person is not work. */
export const Activity = v.picklist(["waiting", "working", "failed", "idle"]);
export type Activity = v.InferOutput<typeof Activity>;

export const Row = v.object({
  id: Id,
  agent: Id,
  title: Text(256),
  isArchived: v.boolean(),
  updated: Text(40),
  unread: Count,
  activity: Activity,
  /** Decisions that wait for the person. */
  waiting: Count,
});
export type Row = v.InferOutput<typeof Row>;

/** A conversation, for the head of the page and the line below it. */
export const Head = v.object({
  ...Row.entries,
  seq: Count,
  model: Text(322),
  /** Why nothing in it is approved automatically. */
  tainted: v.pipe(v.array(Text(512)), v.maxLength(64)),
  processes: v.pipe(v.array(ShownProcess), v.maxLength(maxProcesses)),
  context: v.object({ tokens: Count, limit: Count }),
  usage: v.object(Figures),
  forkedFrom: v.optional(Id),
});
export type Head = v.InferOutput<typeof Head>;

/** A question that a call of this conversation waits for. */
export const Question = v.object({
  id: Id,
  digest: v.pipe(v.string(), v.regex(/^sha256:[0-9a-f]{64}$/)),
  title: Text(4_000),
  reason: Text(8_000),
  requestedBy: v.optional(Text(4_000)),
  /** Those of the call that waits, each character visible, and how many characters are left out. */
  arguments: v.optional(v.object({ text: Text(8_100), left: Count })),
  sources: v.pipe(v.array(Text(512)), v.maxLength(64)),
  scopes: v.pipe(v.array(v.picklist(["once", "conversation", "always"])), v.minLength(1), v.maxLength(3)),
});
export type Question = v.InferOutput<typeof Question>;

/** The parts of a message besides its text. */
export const Attached = v.variant("kind", [
  v.object({ kind: v.literal("file"), path: Text(4_096), range: v.optional(v.tuple([Seq, Seq])) }),
  v.object({ kind: v.literal("quote"), title: Text(400), text: Text(20_000) }),
  v.object({
    kind: v.literal("picture"),
    name: Text(200),
    mediaType: v.picklist(pictureTypes),
    base64: Text((pictureBounds.bytes / 3) * 4),
  }),
]);
export type Attached = v.InferOutput<typeof Attached>;
const AttachedList = v.pipe(v.array(Attached), v.maxLength(maxAttached));

const Decisions = v.object({
  cards: v.pipe(v.array(Card), v.maxLength(maxDecisions)),
  questions: v.pipe(v.array(Question), v.maxLength(maxDecisions)),
});
export type Decisions = v.InferOutput<typeof Decisions>;

const Entries = v.pipe(v.array(ShownEntry), v.maxLength(pageOfEntries));
const Opened = v.object({ id: Id });
const OfProcess = v.object({ id: Id, process: v.optional(Id) });
const {
  diff,
  files,
  picture,
  approve,
  approveAll,
  reject,
  undo,
  undoAll,
  rebase,
  show,
  edit,
  showRule,
  showDecisions,
} = reviewContract.requests;

/** The requests of a proposal's card, as on the review page. */
const cardRequests = {
  diff,
  files,
  picture,
  approve,
  approveAll,
  reject,
  undo,
  undoAll,
  rebase,
  show,
  edit,
  showRule,
  showDecisions,
};

export const conversationsContract = {
  requests: {
    ...commonRequests,
    ...cardRequests,
    list: {
      params: v.object({
        text: v.optional(Text(256)),
        isArchived: v.boolean(),
        cursor: v.optional(Text(256)),
      }),
      result: v.object({
        rows: v.pipe(v.array(Row), v.maxLength(maxRows)),
        cursor: v.optional(Text(256)),
      }),
    },
    /** The agents with which a conversation can be begun. */
    minds: {
      params: Nothing,
      result: v.object({ agents: v.pipe(v.array(v.object({ id: Id })), v.maxLength(200)) }),
    },
    open: { params: v.object({ agent: Id }), result: Opened },
    /** Begins to follow a conversation instead of the one that the page followed. */
    follow: {
      params: v.object({ id: Id }),
      result: v.object({
        head: Head,
        entries: Entries,
        hasEarlier: v.boolean(),
        pinned: v.pipe(v.array(Id), v.maxLength(maxPinned)),
        decisions: Decisions,
      }),
    },
    unfollow: { params: Nothing, result: Nothing },
    earlier: {
      params: v.object({ id: Id, before: Seq }),
      result: v.object({ entries: Entries, hasEarlier: v.boolean() }),
    },
    send: {
      params: v.object({ id: Id, text: Text(maxDraftCharacters), attached: AttachedList, key: Text(128) }),
      result: v.object({ entry: Id }),
    },
    cancel: { params: OfProcess, result: Nothing },
    fork: { params: v.object({ id: Id, at: v.optional(Seq) }), result: Opened },
    compact: { params: v.object({ id: Id }), result: Nothing },
    pin: { params: v.object({ id: Id, entry: Id, pinned: v.boolean() }), result: Nothing },
    /** Shows what an answer rests on, in a list of the editor. */
    why: { params: v.object({ id: Id, entry: Id }), result: Nothing },
    /** Removes a message for good; asks the person first. */
    redact: {
      params: v.object({ id: Id, entry: Id, text: Text(400) }),
      result: v.object({ isRemoved: v.boolean() }),
    },
    update: {
      params: v.object({
        id: Id,
        title: v.optional(Text(256)),
        model: v.optional(Text(322)),
        isArchived: v.optional(v.boolean()),
      }),
      result: Nothing,
    },
    /** Asks the person first. */
    remove: { params: v.object({ id: Id }), result: v.object({ isRemoved: v.boolean() }) },
    context: {
      params: OfProcess,
      result: v.object({
        sections: v.pipe(
          v.array(
            v.object({
              name: Text(64),
              tokens: Count,
              text: Text(maxSectionCharacters),
              isCached: v.boolean(),
              isCut: v.boolean(),
            }),
          ),
          v.maxLength(64),
        ),
        model: Text(322),
        tokens: Count,
        limit: Count,
      }),
    },
    models: {
      params: Nothing,
      result: v.object({ ids: v.pipe(v.array(Text(322)), v.maxLength(maxModels)) }),
    },
    paths: {
      params: v.object({ text: Text(256) }),
      result: v.object({ paths: v.pipe(v.array(Text(4_096)), v.maxLength(maxPaths)) }),
    },
    commands: {
      params: v.object({ agent: Id }),
      result: v.object({
        commands: v.pipe(
          v.array(v.object({ name: Text(128), title: Text(256), description: Text(1_000) })),
          v.maxLength(maxCommands),
        ),
      }),
    },
    runCommand: {
      params: v.object({ agent: Id, name: Text(128), text: Text(maxDraftCharacters) }),
      result: v.object({ message: Text(2_000) }),
    },
    /** Answers a question; bound to what was shown. */
    answer: {
      params: v.object({
        id: Id,
        digest: Question.entries.digest,
        allow: v.boolean(),
        remember: v.optional(v.picklist(["once", "conversation", "always"])),
      }),
      result: Nothing,
    },
    /** Opens all of an entry's text in an editor. */
    showWhole: { params: v.object({ id: Id, seq: Seq }), result: Nothing },
    copy: { params: v.object({ text: Text(400_000) }), result: Nothing },
    /** Opens an address in a browser, after the editor has asked. */
    openLink: { params: v.object({ address: Text(4_096) }), result: Nothing },
    openInEditor: { params: v.object({ id: Id }), result: Nothing },
    /** The pending request to show or attach something; returned once. */
    wanted: { params: Nothing, result: v.object({ id: v.optional(Id), attached: AttachedList }) },
  },
  pushes: {
    ...commonPushes,
    /** A conversation of the list changed. */
    changed: Nothing,
    entries: v.object({ id: Id, entries: Entries }),
    deltas: v.object({ id: Id, deltas: v.pipe(v.array(ShownDelta), v.maxLength(256)) }),
    head: Head,
    decisions: v.object({ id: Id, ...Decisions.entries }),
    /** The conversation that is followed was deleted. */
    gone: v.object({ id: Id }),
    wanted: Nothing,
  },
};
export type ConversationsContract = typeof conversationsContract;
