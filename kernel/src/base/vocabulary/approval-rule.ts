import { Type, type Static } from "typebox";
import { closed, Place, Timestamp } from "./common.ts";

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

export const ScopeId = Type.Union(
  [
    Type.Literal("file", { description: "This kind of change to these files" }),
    Type.Literal("folder", { description: "This kind of change in these folders" }),
    Type.Literal("kind", { description: "Every change of this kind by this agent" }),
    Type.Literal("session", {
      description: "Every change of this kind by this agent, until the last trusted client disconnects",
    }),
  ],
  { description: "What the choice is called" },
);
export type ScopeId = Static<typeof ScopeId>;

/** A scope with more rules is not offered, because a person could not read them all before choosing. */
export const maxRulesPerScope = 32;

export const Scope = Type.Object(
  {
    id: ScopeId,
    title: Type.String({
      description: "What would be allowed from then on, in one line; invisible characters are shown as marks",
    }),
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
    sentence: Type.String({
      description: "The reason, in one line; invisible characters are shown as marks",
    }),
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
    rules: Type.Array(RememberedRule, {
      description:
        "The rules that it consists of; empty for an answer to a question (`lares/asks/*`) and for a schedule",
    }),
    created: Type.Optional(
      Type.String({ description: "UTC, ISO 8601; absent for a rule that was written by hand" }),
    ),
    used: Type.Integer({
      minimum: 0,
      description: "How many actions it allowed or restrained, or how often the schedule ran",
    }),
    last_used: Type.Optional(Timestamp("When it decided last")),
    place: Type.Optional(Place),
  },
  {
    ...closed,
    description:
      'What a person answered with "always", or wrote into decisions.yaml, or a schedule of a mind that they accepted',
  },
);
export type Decision = Static<typeof Decision>;
