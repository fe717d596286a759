import { Type, type Static } from "typebox";
import { closed, HashOf, Json, Timestamp } from "./common.ts";
import { OnBehalfOf, ProcessKind } from "./principal.ts";

const AskKind = Type.Union(
  [
    Type.Literal("egress", { description: "A request that would leave the machine" }),
    Type.Literal("repeat", { description: "A call that would be made once more in the same words" }),
    Type.Literal("budget", { description: "Costs that cannot be counted against a budget" }),
    Type.Literal("model", { description: "A language model that was found, and that nobody configured" }),
    Type.Literal("block", { description: "A text that a mind would keep for all of its conversations" }),
    Type.Literal("schedule", { description: "A message that a mind would send itself at certain times" }),
  ],
  { description: "What is asked" },
);
type AskKind = Static<typeof AskKind>;

const askKinds: ReadonlySet<unknown> = new Set<AskKind>([
  "egress",
  "repeat",
  "budget",
  "model",
  "block",
  "schedule",
]);

export function isAskKind(value: unknown): value is AskKind {
  return askKinds.has(value);
}

const AskState = Type.Union(
  [
    Type.Literal("Pending", { description: "It waits for a person" }),
    Type.Literal("Allowed", { description: "A person allowed it" }),
    Type.Literal("Denied", { description: "A person denied it" }),
    Type.Literal("Expired", {
      description:
        "Nobody answered within `approvals.expire_after`, or what had asked was cancelled or ended; it counts as denied",
    }),
  ],
  { description: "Whether it was answered, and how" },
);

export const AskScope = Type.Union(
  [
    Type.Literal("once", { description: "For this one time" }),
    Type.Literal("conversation", { description: "For the rest of the conversation" }),
    Type.Literal("always", {
      description: "In this workspace, until it is revoked with `lares/decisions/revoke`",
    }),
  ],
  { description: "How long an answer counts" },
);
export type AskScope = Static<typeof AskScope>;

export const Ask = Type.Object(
  {
    id: Type.String({ description: "Unique; in the order of creation" }),
    agent: Type.String({ description: "The id of the agent that waits for the answer" }),
    conversation: Type.Optional(Type.String({ description: "The conversation, if one waits" })),
    process: Type.Optional(ProcessKind),
    on_behalf_of: Type.Optional(
      OnBehalfOf(
        "Who led its agent to the call that waits, the nearest first; absent if the agent acted of its own accord",
      ),
    ),
    kind: AskKind,
    title: Type.String({ description: "The question, in the kernel's words, on one line" }),
    reason: Type.String({ description: "Why it is asked, in the kernel's words" }),
    sources: Type.Array(Type.String(), {
      description: "Where the text came from that led to it, if not from a person",
    }),
    facts: Type.Record(Type.String(), Json("A fact"), {
      description: "What the question is about, for machines",
    }),
    scopes: Type.Array(AskScope, {
      minItems: 1,
      description: "How long an answer may count; the first one is the default of `remember`",
    }),
    digest: HashOf("What was shown: everything above but the id"),
    state: AskState,
    created: Timestamp("When it was asked"),
    expires: Timestamp("When it expires, or when it ended"),
  },
  { ...closed, description: "A question to a person, which a call waits for" },
);
export type Ask = Static<typeof Ask>;

/** The answer that a call needs before it continues. */
export type Question = Pick<
  Ask,
  | "agent"
  | "conversation"
  | "process"
  | "on_behalf_of"
  | "kind"
  | "title"
  | "reason"
  | "sources"
  | "facts"
  | "scopes"
> & {
  /**
   * The subject of a remembered answer, in words for `decisions.yaml`; the answer applies again for the same kind and the
   * same words.
   */
  readonly about: string;
  /** Whether it applies for this agent or for all agents of the workspace. */
  readonly countsFor: "agent" | "workspace";
};

/** A call that asks a person and that the next kernel repeats: one of a conversation, or a proposal that waits. */
export interface Asking {
  /** Names it for ever. After a restart the same key gets the same question, or the answer that it had meanwhile. */
  readonly key: string;
  /** Called with the question once it is stored, and again when it has ended. */
  changed(ask: Ask): void;
  /** Returns true if it is asked again later, so that its question stays although nothing waits for it now. */
  isPausing(): boolean;
}
