import { maxActionTitle, maxEffectsPerAction } from "./bounds.ts";
import { Type, type Static } from "typebox";
import { Scope, PolicyReason } from "./approval-rule.ts";
import { closed, Hash, HashOf, PathOf, Timestamp } from "./common.ts";
import { maxChainAgents, OnBehalfOf } from "./principal.ts";

export const ActionState = Type.Union(
  [
    Type.Literal("PendingApproval", { description: "Waits for a person" }),
    Type.Literal("Approved", { description: "Approved, and its commit has not begun" }),
    Type.Literal("Committing", { description: "The changes are being made" }),
    Type.Literal("Committed", { description: "The changes are made; `lares/actions/undo` undoes them" }),
    Type.Literal("Rejected", { description: "A person or policy refused it" }),
    Type.Literal("Failed", { description: "The changes could not be made, and nothing was changed" }),
    Type.Literal("Stale", {
      description:
        "The workspace has changed since the action was proposed, or another action replaced it; nothing was changed",
    }),
    Type.Literal("Expired", { description: "Nobody decided within `approvals.expire_after`" }),
    Type.Literal("Undone", { description: "The changes were made and later undone" }),
  ],
  { description: "Where an action is between its proposal and its end" },
);
export type ActionState = Static<typeof ActionState>;

/** The states that an action does not leave by itself (an undo still leads from Committed to Undone). */
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
  Type.Union([Hash, Type.Null()], {
    description:
      "The hash that the file must have before; null: it must not exist. Default: as the kernel finds it",
  }),
);
const Tag = Type.String({ minLength: 1, maxLength: 256, description: "The tag" });
const kind = { description: "The kind of change" };
const changed = PathOf("The file or folder that is changed");

const FileWriteText = Type.Object(
  {
    kind: Type.Literal("file.write", kind),
    path: changed,
    content: Type.String({ description: "The whole new content, as text" }),
    expected,
  },
  closed,
);
const FileWriteBytes = Type.Object(
  {
    kind: Type.Literal("file.write", kind),
    path: changed,
    content_base64: Type.String({ description: "The whole new content, as standard Base64" }),
    expected,
  },
  closed,
);
const FileEdit = Type.Object(
  {
    kind: Type.Literal("file.edit", kind),
    path: changed,
    edits: Type.Array(
      Type.Object(
        {
          find: Type.String({
            minLength: 1,
            description: "The text to replace; it must be in the file exactly once",
          }),
          replace: Type.String({ description: "What to put in its place" }),
          all: Type.Optional(
            Type.Boolean({
              description: "Replaces every occurrence, of which there must be at least one",
              default: false,
            }),
          ),
        },
        closed,
      ),
      { minItems: 1, maxItems: 1000, description: "Replacements, made one after the other" },
    ),
    expected,
  },
  closed,
);
const FileMove = Type.Object(
  {
    kind: Type.Literal("file.move", kind),
    from: PathOf("What is moved"),
    to: PathOf("Where it goes; there must be nothing"),
  },
  closed,
);
const FileDelete = Type.Object({ kind: Type.Literal("file.delete", kind), path: changed, expected }, closed);
const FolderCreate = Type.Object({ kind: Type.Literal("folder.create", kind), path: changed }, closed);
const TagAdd = Type.Object({ kind: Type.Literal("tag.add", kind), path: changed, tag: Tag }, closed);
const TagRemove = Type.Object({ kind: Type.Literal("tag.remove", kind), path: changed, tag: Tag }, closed);
const FieldSet = Type.Object(
  {
    kind: Type.Literal("field.set", kind),
    path: changed,
    namespace: Type.String({
      minLength: 1,
      maxLength: 128,
      description: "The namespace of the field, which `write_custom_fields` grants",
    }),
    key: Type.String({ minLength: 1, maxLength: 128, description: "The field's name in the namespace" }),
    value: Type.Unknown({ description: "The field's new value; null removes the field" }),
  },
  closed,
);
const SidecarWrite = Type.Object(
  {
    kind: Type.Literal("sidecar.write", kind),
    path: changed,
    sidecar: Type.String({
      minLength: 1,
      maxLength: 128,
      pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$",
      description: "The kind of sidecar, which `write_sidecars` grants: letters, digits, dots, dashes",
    }),
    data: Type.Unknown({ description: "The sidecar's new content, any JSON" }),
  },
  closed,
);

/** What an agent proposes: one change to one entry. */
export const EffectInput = Type.Union(
  [
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
  ],
  { description: "One change that an agent proposes" },
);
export type EffectInput = Static<typeof EffectInput>;
export type EffectKind = EffectInput["kind"];

export const Proposal = Type.Object(
  {
    effects: Type.Array(EffectInput, {
      minItems: 1,
      maxItems: maxEffectsPerAction,
      description: "The changes, each on what those before it leave; all are made or none",
    }),
    title: Type.String({
      minLength: 1,
      maxLength: maxActionTitle,
      description: "What the action does, for a person",
    }),
    reason: Type.String({ maxLength: 4000, description: "Why the agent proposes it, for a person" }),
  },
  closed,
);
export type Proposal = Static<typeof Proposal>;

/** The length of a proposal's key, in characters. */
const maxProposalKey = 256;
/** A proposal as an agent submits it. */
export const ProposalRequest = Type.Object(
  {
    ...Proposal.properties,
    supersedes: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 128,
        description:
          "The id of an action of the same agent that waits or is Stale; the new one takes its place. NotFound for any other agent's, IllegalTransition if it has ended otherwise or was approved meanwhile",
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

/** An effect as previewed: what it will do, and the hashes of the content before and after. */
export const Effect = Type.Object(
  {
    kind: Type.Union(
      [
        Type.Literal("file.write"),
        Type.Literal("file.edit"),
        Type.Literal("file.move"),
        Type.Literal("file.delete"),
        Type.Literal("folder.create"),
        Type.Literal("tag.add"),
        Type.Literal("tag.remove"),
        Type.Literal("field.set"),
        Type.Literal("sidecar.write"),
      ],
      kind,
    ),
    path: Type.String({ description: "The entry that is changed; for a move, where it ends" }),
    before: Type.Union([Hash, Type.Null()], {
      description: "Hash of what the effect starts from; null: nothing there",
    }),
    after: Type.Union([Hash, Type.Null()], { description: "Hash of what it leaves; null: nothing" }),
    from: Type.Optional(Type.String({ description: "For a move: where the entry was" })),
    diff: Type.Optional(Type.String({ description: "Unified diff, for text files of at most 256 KiB" })),
    summary: Type.String({ description: "What the effect does, in one sentence" }),
    hard_link: Type.Optional(
      Type.Literal(true, {
        description: "The file has another name (a hard link), which keeps the old content",
      }),
    ),
    tag: Type.Optional(Type.String({ description: "For a tag: the tag" })),
    namespace: Type.Optional(Type.String({ description: "For a field: its namespace" })),
    key: Type.Optional(Type.String({ description: "For a field: its name" })),
    value: Type.Optional(Type.Unknown({ description: "For a field: its new value, if it is small" })),
    sidecar: Type.Optional(Type.String({ description: "For a sidecar: its kind" })),
  },
  { description: "One change of an action, as the kernel planned it" },
);
export type Effect = Static<typeof Effect>;

export const Action = Type.Object(
  {
    id: Type.String({ description: "The action's id" }),
    agent: Type.String({ description: "The id of the agent that proposed it" }),
    title: Type.String({ description: "What the action does, in the agent's words" }),
    reason: Type.String({ description: "Why the agent proposed it, in the agent's words" }),
    on_behalf_of: Type.Optional(
      OnBehalfOf(
        "Who led its agent to propose it, the nearest first; absent if the agent acted of its own accord. Agents do not see it",
      ),
    ),
    callers: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: maxChainAgents - 1,
        description:
          "The ids of the agents whose calls led its agent to propose it, the outermost first; persons and its own agent are left out. Agents do not see it",
      }),
    ),
    sources: Type.Optional(
      Type.Array(Type.String(), {
        description:
          "Where texts come from that led to it and that nobody vouches for. Such an action is asked each time. Agents do not see it",
      }),
    ),
    state: ActionState,
    impact_score: Type.Number({
      minimum: 0,
      maximum: 1,
      description:
        "How much the action changes and how hard that is to undo; `approvals.auto_approve_below` compares with it",
    }),
    digest: HashOf("Identifies exactly these effects; an approval names it"),
    effects: Type.Array(Effect, { description: "The changes, in the order in which they are made" }),
    created: Timestamp("When it was proposed"),
    decided: Type.Optional(Timestamp("When it was decided")),
    decided_by: Type.Optional(
      Type.Union(
        [
          Type.Literal("user", { description: "A person" }),
          Type.Literal("policy", { description: "A rule or setting, without asking" }),
        ],
        { description: "Who approved, rejected or expired it" },
      ),
    ),
    ended: Type.Optional(
      Timestamp("When it came to its present state, if it has ended: when it was undone, for one that was"),
    ),
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
      Type.String({ description: "The reason that the person gave for rejecting it; its agent sees it" }),
    ),
    edited_by: Type.Optional(
      Type.Literal("user", {
        description: "The person who approved it changed its contents first; its agent does not see them",
      }),
    ),
    undone_by: Type.Optional(Type.Literal("user", { description: "Who undid it: a person" })),
    rebased_by: Type.Optional(
      Type.Literal("user", {
        description: "Who had it made from a stale action, which `supersedes` names: a person",
      }),
    ),
    supersedes: Type.Optional(Type.String({ description: "The id of the action whose place this one took" })),
    superseded_by: Type.Optional(
      Type.String({
        description: "The id of the action that replaced it. An action that is superseded is Stale",
      }),
    ),
    rebasable: Type.Optional(
      Type.Boolean({
        description:
          "True where lares/actions/rebase is worth offering: the action is Stale, no other action replaced it, its contents are still kept, and each text that it changes can be merged. The merge itself may still meet a conflict",
      }),
    ),
    key: Type.Optional(Type.String({ description: "The key that its agent proposed it with" })),
    receipt: Type.Optional(
      Type.Object(
        {
          applied: Type.Array(Type.Integer(), { description: "Indices of the effects that were made" }),
          finished: Timestamp("When the commit had ended"),
        },
        { description: "What the commit did" },
      ),
    ),
  },
  { description: "Changes that an agent proposes together, and what became of them" },
);
export type Action = Static<typeof Action>;

const {
  on_behalf_of: _onBehalfOf,
  callers: _callers,
  sources: _sources,
  rule: _rule,
  asked_because: _askedBecause,
  scopes: _scopes,
  rebasable: _rebasable,
  ...seenByAgents
} = Action.properties;
/** An action as its agent is told it: who led to it, and why a person is asked, is for people. */
export const AgentAction = Type.Object(seenByAgents, {
  description: "Changes that an agent proposes together, and what became of them",
});
