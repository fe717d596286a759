import { Type, type Static } from "typebox";
import { closed, Hash, Path, Place, Timestamp } from "./common.ts";

export const ActionState = Type.Union([
  Type.Literal("PendingApproval"),
  Type.Literal("Approved"),
  Type.Literal("Committing"),
  Type.Literal("Committed"),
  Type.Literal("Rejected"),
  Type.Literal("Failed"),
  Type.Literal("Stale"),
  Type.Literal("Expired"),
  Type.Literal("Undone"),
]);
export type ActionState = Static<typeof ActionState>;

/** The states an action does not leave by itself (an undo still leads from Committed to Undone). */
export const endedStates = [
  "Committed",
  "Rejected",
  "Failed",
  "Stale",
  "Expired",
  "Undone",
] as const satisfies ActionState[];

export function hasEnded(state: ActionState): boolean {
  return (endedStates as readonly ActionState[]).includes(state);
}

const expected = Type.Optional(
  Type.Union([Hash, Type.Null()], { description: "Hash the file must have before; null: it must not exist" }),
);
const Tag = Type.String({ minLength: 1, maxLength: 256 });

export const FileWriteText = Type.Object(
  { kind: Type.Literal("file.write"), path: Path, content: Type.String(), expected },
  closed,
);
export const FileWriteBytes = Type.Object(
  { kind: Type.Literal("file.write"), path: Path, content_base64: Type.String(), expected },
  closed,
);
export const FileEdit = Type.Object(
  {
    kind: Type.Literal("file.edit"),
    path: Path,
    edits: Type.Array(
      Type.Object(
        { find: Type.String({ minLength: 1 }), replace: Type.String(), all: Type.Optional(Type.Boolean()) },
        closed,
      ),
      { minItems: 1, maxItems: 1000 },
    ),
    expected,
  },
  closed,
);
export const FileMove = Type.Object({ kind: Type.Literal("file.move"), from: Path, to: Path }, closed);
export const FileDelete = Type.Object({ kind: Type.Literal("file.delete"), path: Path, expected }, closed);
export const FolderCreate = Type.Object({ kind: Type.Literal("folder.create"), path: Path }, closed);
export const TagAdd = Type.Object({ kind: Type.Literal("tag.add"), path: Path, tag: Tag }, closed);
export const TagRemove = Type.Object({ kind: Type.Literal("tag.remove"), path: Path, tag: Tag }, closed);
export const FieldSet = Type.Object(
  {
    kind: Type.Literal("field.set"),
    path: Path,
    namespace: Type.String({ minLength: 1, maxLength: 128 }),
    key: Type.String({ minLength: 1, maxLength: 128 }),
    value: Type.Unknown(),
  },
  closed,
);
export const SidecarWrite = Type.Object(
  {
    kind: Type.Literal("sidecar.write"),
    path: Path,
    sidecar: Type.String({ minLength: 1, maxLength: 128, pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$" }),
    data: Type.Unknown(),
  },
  closed,
);

/** What an agent proposes: one change to one entry. */
export const EffectInput = Type.Union([
  FileWriteText,
  FileWriteBytes,
  FileEdit,
  FileMove,
  FileDelete,
  FolderCreate,
  TagAdd,
  TagRemove,
  FieldSet,
  SidecarWrite,
]);
export type EffectInput = Static<typeof EffectInput>;
export type EffectKind = EffectInput["kind"];

/** At most this many effects in one action. */
export const maxEffectsPerAction = 1000;

export const Proposal = Type.Object(
  {
    effects: Type.Array(EffectInput, { minItems: 1, maxItems: maxEffectsPerAction }),
    title: Type.String({ minLength: 1, maxLength: 200 }),
    reason: Type.String({ maxLength: 4000 }),
  },
  closed,
);
export type Proposal = Static<typeof Proposal>;

/** Characters of the key of a proposal. */
export const maxProposalKey = 256;
/** Characters of what a person says to a rejection. */
export const maxRejectionReason = 2000;

/** What an agent puts up for decision. */
export const ProposalRequest = Type.Object(
  {
    ...Proposal.properties,
    supersedes: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 128,
        description:
          "The id of an action of the same agent that waits or is Stale; the new one takes its place. NotFound for any other agent's, IllegalTransition where it has ended otherwise or was approved meanwhile",
      }),
    ),
    key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: maxProposalKey,
        description:
          "Chosen by the agent. A proposal with a key that the agent used before stores nothing and answers the action of that time, whatever became of it, for as long as the kernel keeps its record",
      }),
    ),
  },
  closed,
);
export type ProposalRequest = Static<typeof ProposalRequest>;

/** An effect as previewed: what it will do, from which bytes to which. */
export const Effect = Type.Object({
  kind: Type.Union([
    Type.Literal("file.write"),
    Type.Literal("file.edit"),
    Type.Literal("file.move"),
    Type.Literal("file.delete"),
    Type.Literal("folder.create"),
    Type.Literal("tag.add"),
    Type.Literal("tag.remove"),
    Type.Literal("field.set"),
    Type.Literal("sidecar.write"),
  ]),
  path: Type.String({ description: "The entry that is changed; for a move, where it ends" }),
  before: Type.Union([Hash, Type.Null()], {
    description: "Hash of what the effect starts from; null: nothing there",
  }),
  after: Type.Union([Hash, Type.Null()], { description: "Hash of what it leaves; null: nothing" }),
  from: Type.Optional(Type.String({ description: "For a move: where the entry was" })),
  diff: Type.Optional(Type.String({ description: "Unified; for text files up to 256 KiB" })),
  summary: Type.String({ description: "One sentence" }),
  tag: Type.Optional(Type.String()),
  namespace: Type.Optional(Type.String()),
  key: Type.Optional(Type.String()),
  value: Type.Optional(Type.Unknown()),
  sidecar: Type.Optional(Type.String()),
});
export type Effect = Static<typeof Effect>;

export const ApprovalRule = Type.Object(
  {
    decide: Type.Union(
      [
        Type.Literal("deny", { description: "It is refused" }),
        Type.Literal("ask", { description: "A person is asked" }),
        Type.Literal("allow", { description: "It is made without asking, once this rule was accepted" }),
      ],
      { description: "What becomes of a change that the rule matches" },
    ),
    agent: Type.Optional(
      Type.String({ maxLength: 256, description: "The extension's id whose changes are meant; default any" }),
    ),
    kind: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'The kind of change, such as file.move; "file.*" is all of a family; default any',
      }),
    ),
    path: Type.Optional(
      Type.String({
        maxLength: 4096,
        description:
          "The files, by a glob; default any. An allow rule must match every path that the change touches; deny and ask, any of them",
        examples: ["photos/**", "*.md"],
      }),
    ),
  },
  { ...closed, description: "A decision about changes of a kind, made beforehand" },
);
export type ApprovalRule = Static<typeof ApprovalRule>;

export const RememberedRule = Type.Object(
  {
    ...ApprovalRule.properties,
    until: Type.Optional(
      Type.Literal("close", {
        description:
          "Kept in the kernel's memory until its last trusted client disconnects; default for good",
      }),
    ),
  },
  { ...closed, description: 'A rule that "always" remembers' },
);
export type RememberedRule = Static<typeof RememberedRule>;

export const ScopeId = Type.Union([
  Type.Literal("file"),
  Type.Literal("folder"),
  Type.Literal("kind"),
  Type.Literal("session"),
]);
export type ScopeId = Static<typeof ScopeId>;

/** A scope with more rules is not offered: a person could not read them all before choosing. */
export const maxRulesPerScope = 32;

export const Scope = Type.Object(
  {
    id: ScopeId,
    title: Type.String({ description: "What would be allowed from then on; no line breaks, nothing unseen" }),
    rules: Type.Array(RememberedRule, {
      minItems: 1,
      maxItems: maxRulesPerScope,
      description: "What to pass to `lares/actions/approve` as `rules`, unchanged",
    }),
  },
  { ...closed, description: 'One choice of what "always" remembers' },
);
export type Scope = Static<typeof Scope>;

export const PolicyReason = Type.Object(
  {
    sentence: Type.String({ description: "One sentence; no line breaks, nothing unseen" }),
    place: Type.Optional(Place),
    decision: Type.Optional(
      Type.String({ description: "Where a remembered rule decided: its id in `lares/decisions/list`" }),
    ),
  },
  { ...closed, description: "Why policy decided as it did" },
);
export type PolicyReason = Static<typeof PolicyReason>;

export const Decision = Type.Object(
  {
    id: Type.String({ description: "Stays the same while the decision is there" }),
    agent: Type.Optional(Type.String({ description: "Absent where it holds for every agent" })),
    title: Type.String({ description: "What it says, in one sentence" }),
    rules: Type.Array(RememberedRule, { minItems: 1 }),
    created: Type.Optional(
      Type.String({ description: "UTC, ISO 8601; absent for a rule that was written by hand" }),
    ),
    used: Type.Integer({ minimum: 0, description: "Actions that it has decided" }),
    last_used: Type.Optional(Timestamp),
    place: Type.Optional(Place),
  },
  { ...closed, description: 'What a person answered with "always", or wrote into decisions.yaml' },
);
export type Decision = Static<typeof Decision>;

export const Action = Type.Object({
  id: Type.String(),
  agent: Type.String(),
  title: Type.String(),
  reason: Type.String(),
  state: ActionState,
  impact_score: Type.Number({ minimum: 0, maximum: 1 }),
  digest: Hash,
  effects: Type.Array(Effect),
  created: Timestamp,
  decided: Type.Optional(Timestamp),
  decided_by: Type.Optional(Type.Union([Type.Literal("user"), Type.Literal("policy")])),
  rule: Type.Optional(
    Type.Object(PolicyReason.properties, {
      ...closed,
      description: "With `decided_by: policy`: the rule or setting that decided",
    }),
  ),
  asked_because: Type.Optional(
    Type.Object(PolicyReason.properties, {
      ...closed,
      description:
        "While it waits for a person: why it is asked, and why a rule that allows it does not count",
    }),
  ),
  scopes: Type.Optional(
    Type.Array(Scope, {
      description:
        'While it waits for a person: what "always" may remember. Absent where every effect is asked each time',
    }),
  ),
  error: Type.Optional(
    Type.String({ description: "Why it failed, went stale, expired, or was refused by policy" }),
  ),
  rejected_reason: Type.Optional(
    Type.String({ description: "What the person who rejected it said; its agent is told" }),
  ),
  edited_by: Type.Optional(
    Type.Literal("user", {
      description: "The person who approved it changed its contents first; its agent is not told them",
    }),
  ),
  supersedes: Type.Optional(Type.String({ description: "The id of the action whose place this one took" })),
  superseded_by: Type.Optional(
    Type.String({
      description: "The id of the action that took its place. An action that is superseded is Stale",
    }),
  ),
  rebasable: Type.Optional(
    Type.Boolean({
      description:
        "True where lares/actions/rebase is worth offering: the action is Stale, nothing took its place, its contents are still kept, and each text that it changes can be merged. The merge itself may still meet a conflict",
    }),
  ),
  key: Type.Optional(Type.String({ description: "Under which its agent proposed it" })),
  receipt: Type.Optional(Type.Object({ applied: Type.Array(Type.Integer()), finished: Timestamp })),
});
export type Action = Static<typeof Action>;
