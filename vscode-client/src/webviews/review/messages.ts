import { maxRejectionReason } from "../../../../kernel/src/base/vocabulary/bounds.ts";
import * as v from "valibot";
import { commonPushes, commonRequests, Count, Id, Nothing, Text } from "../shared/common-state.ts";

/** The number of cards that the page has: all waiting ones, and the latest decided ones. */
const maxCards = 1_300;
/** Cards in one message. */
export const maxCardsAtOnce = 100;
/** Files that a card lists before the others are requested. */
export const maxCardFiles = 30;
/** All files of one action. */
const maxFiles = 1_000;
/** Lines of one file's diff that a card draws; the diff editor shows all. */
export const maxDiffLines = 400;
/** Characters of one line of a diff that a card draws. */
export const maxLineCharacters = 2_000;
/** A picture as a data URL. */
export const maxPictureCharacters = 3 * 1024 * 1024;
/** Actions that one batch decides. */
export const maxBatch = 1_000;

/** The digest of an action; an approval is bound to it. */
const Digest = v.pipe(v.string(), v.regex(/^sha256:[0-9a-f]{64}$/));
const Index = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(maxFiles - 1));
/** Paths are never cut: the kernel bounds them, and invisible characters are written out. */
const Path = Text(40_000);

export const FileSign = v.picklist(["delete", "move", "new", "edit", "folder", "note"]);
export type FileSign = v.InferOutput<typeof FileSign>;

/** What one effect does, for a line of a list. */
export const CardFile = v.object({
  effect: Index,
  sign: FileSign,
  /** In words that no agent chooses: "edit", "delete", "add tag". */
  verb: Text(600),
  path: Path,
  /** The path before a move. */
  from: v.optional(Path),
  /** True if it has a text that can be compared. */
  hasText: v.boolean(),
  isPicture: v.boolean(),
  /** Left out when a person approved a part. */
  isLeftOut: v.boolean(),
});
export type CardFile = v.InferOutput<typeof CardFile>;

/** A choice of what to allow without asking from now on. */
const Scope = v.object({ id: Text(40), title: Text(2_000) });
type Scope = v.InferOutput<typeof Scope>;

export const Section = v.picklist(["waiting", "outdated", "automatic", "replaced", "decided"]);
export type Section = v.InferOutput<typeof Section>;

export const Became = v.picklist([
  "applied",
  "rejected",
  "undone",
  "failed",
  "expired",
  "outdated",
  "replaced",
]);
export type Became = v.InferOutput<typeof Became>;

/** A proposal or its outcome. In all texts, invisible characters are shown. */
export const Card = v.object({
  id: Id,
  digest: Digest,
  agent: Text(256),
  section: Section,
  /** The subject: a file's name, or "14 files, deletes 1". */
  name: Path,
  folder: Path,
  title: Text(2_400),
  reason: Text(40_000),
  /** The sentence that names who led the agent to it; absent where it acted of its own accord. */
  requestedBy: v.optional(Text(4_000)),
  created: Text(40),
  /** When it was decided or ended. */
  ended: v.optional(Text(40)),
  /** The outcome: "Applied", "Undone", "Out of date". */
  outcome: v.optional(Text(80)),
  /** The icon of an ended one; absent while it waits or is being applied. */
  became: v.optional(Became),
  /** The sentence of the rule or threshold that decided, or why a rule did not. */
  rule: v.optional(Text(2_000)),
  /** Why it was not applied, from the kernel. */
  error: v.optional(Text(4_000)),
  level: v.picklist([1, 2, 3]),
  impact: Text(400),
  showsFirst: v.boolean(),
  isAlone: v.boolean(),
  /** Deletes and moves first. */
  files: v.pipe(v.array(CardFile), v.maxLength(maxCardFiles)),
  moreFiles: Count,
  effects: Count,
  folders: v.pipe(v.array(Path), v.maxLength(maxCardFiles)),
  kinds: v.pipe(v.array(FileSign), v.maxLength(6)),
  scopes: v.pipe(v.array(Scope), v.maxLength(8)),
  canUndo: v.boolean(),
  canRebase: v.boolean(),
  canEdit: v.boolean(),
});
export type Card = v.InferOutput<typeof Card>;

export const DiffLine = v.object({
  sign: v.picklist(["+", "-", " "]),
  number: Count,
  /** Pieces of the line; the changed ones are marked. */
  parts: v.pipe(
    v.array(v.object({ text: Text(maxLineCharacters * 8), changed: v.boolean() })),
    v.maxLength(200),
  ),
});
export type DiffLine = v.InferOutput<typeof DiffLine>;

const Hunk = v.object({
  /** "Lines 1–5" of the current text. */
  title: Text(80),
  lines: v.pipe(v.array(DiffLine), v.maxLength(maxDiffLines)),
});
type Hunk = v.InferOutput<typeof Hunk>;

export const FileDiff = v.object({
  digest: Digest,
  hunks: v.pipe(v.array(Hunk), v.maxLength(maxDiffLines)),
  added: Count,
  removed: Count,
  /** The number of lines that are not drawn here. */
  more: Count,
  /** Why there are no lines. */
  note: v.optional(Text(400)),
});
export type FileDiff = v.InferOutput<typeof FileDiff>;

/** Bound to what the page shows. */
const Shown = v.object({ id: Id, digest: Digest });
const Batch = v.pipe(v.array(Shown), v.minLength(1), v.maxLength(maxBatch));
/** The result of a batch: the number of successes, and a sentence for each failure. */
const BatchResult = v.object({ done: Count, failures: v.pipe(v.array(Text(2_000)), v.maxLength(maxBatch)) });
const Reason = v.pipe(v.string(), v.maxLength(maxRejectionReason));

export const Approval = v.object({
  id: Id,
  digest: Digest,
  /** Only these effects; all if absent. */
  effects: v.optional(v.pipe(v.array(Index), v.minLength(1), v.maxLength(maxFiles))),
  /** Parts of files that are left out, by their number in the diff. */
  leftOut: v.optional(
    v.pipe(
      v.array(v.object({ effect: Index, hunks: v.pipe(v.array(Count), v.maxLength(maxDiffLines)) })),
      v.maxLength(maxFiles),
    ),
  ),
  /** The scope of the action that is allowed from now on. */
  scope: v.optional(Text(40)),
});
export type Approval = v.InferOutput<typeof Approval>;

export const reviewContract = {
  requests: {
    ...commonRequests,
    /** The first of them; the others are pushed. */
    cards: {
      params: Nothing,
      result: v.object({ cards: v.pipe(v.array(Card), v.maxLength(maxCardsAtOnce)) }),
    },
    /** All files of an action whose card lists only some. */
    files: { params: Shown, result: v.object({ files: v.pipe(v.array(CardFile), v.maxLength(maxFiles)) }) },
    diff: { params: v.object({ id: Id, effect: Index }), result: FileDiff },
    /** A small picture of the workspace as a data URL; absent if it is too large or not a picture. */
    picture: {
      params: v.object({ id: Id, effect: Index }),
      result: v.object({ data: v.optional(Text(maxPictureCharacters)), bytes: v.optional(Count) }),
    },
    approve: { params: Approval, result: v.object({ outcome: Text(400) }) },
    approveAll: { params: v.object({ items: Batch }), result: BatchResult },
    reject: {
      params: v.object({ id: Id, digest: Digest, reason: v.optional(Reason) }),
      result: v.object({ outcome: Text(400) }),
    },
    rejectAll: { params: v.object({ items: Batch, reason: v.optional(Reason) }), result: BatchResult },
    undo: { params: v.object({ id: Id }), result: v.object({ outcome: Text(400) }) },
    /** Asks the person first; `isLeft`: they cancelled, and nothing was done. */
    undoAll: {
      params: v.object({ items: Batch }),
      result: v.object({ ...BatchResult.entries, isLeft: v.optional(v.boolean()) }),
    },
    /** Merges an outdated proposal with the new text; returns the id of the new action. */
    rebase: { params: v.object({ id: Id }), result: v.object({ id: Id }) },
    /** Opens the diff editor. */
    show: { params: v.object({ id: Id, effect: v.optional(Index) }), result: Nothing },
    /** Opens the proposed text for editing before it is approved. */
    edit: { params: v.object({ id: Id, digest: Digest, effect: v.optional(Index) }), result: Nothing },
    /** Shows the document whose rule decided about an action. */
    showRule: { params: v.object({ id: Id }), result: Nothing },
    showDecisions: { params: Nothing, result: Nothing },
    /** The action that the page was opened for; returned only once. */
    focus: { params: Nothing, result: v.object({ id: v.optional(Id) }) },
    /** What the page shows now, for the commands that decide about all of it. */
    shown: { params: v.object({ items: v.pipe(v.array(Shown), v.maxLength(maxBatch)) }), result: Nothing },
  },
  pushes: {
    ...commonPushes,
    /** New or changed cards, and the ids of removed ones. */
    changed: v.object({
      cards: v.pipe(v.array(Card), v.maxLength(maxCardsAtOnce)),
      gone: v.pipe(v.array(Id), v.maxLength(maxCards)),
    }),
    focus: Nothing,
  },
};
export type ReviewContract = typeof reviewContract;
