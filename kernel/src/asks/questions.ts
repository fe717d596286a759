import type { Ask, Asking } from "../base/vocabulary/ask.ts";
import { canonicalJson } from "../base/json.ts";
import { sha256 } from "../platform/files/hash.ts";
import type { AskAbout } from "./ask-rows.ts";

/** The number of questions that may wait at once: of one agent's program, of one conversation, of one mind, and of all. */
const pendingLimits = { perAgent: 8, perConversation: 3, perMind: 64, together: 256 } as const;

/** The number of questions that wait until there is room for them. Each belongs to a process, so there are never so many. */
export const maxUnseen = 4_096;

/** The answer that a call needs before it continues. */
export type Question = Pick<
  Ask,
  "agent" | "conversation" | "process" | "kind" | "title" | "reason" | "sources" | "facts" | "scopes"
> &
  /**
   * `about`: the subject of a remembered answer, in words for `decisions.yaml`; the answer applies again for the same
   * kind and the same words. `countsFor`: whether that is so for this agent or for all agents of the workspace.
   */
  Omit<AskAbout, "isUnseen">;

/** The subject of a remembered answer: kind, agent (any if absent) and words. */
export interface Subject {
  readonly kind: Ask["kind"];
  readonly agent?: string;
  readonly about: string;
}

/** A question that the person sees. `isOfProgram`: an agent's program asked it, so that it ends with its kernel. */
export interface Seen {
  readonly agent: string;
  readonly conversation?: string | undefined;
  readonly isOfProgram: boolean;
}

/** Returns how many questions of an agent's program wait, and whether the person may be asked one more. */
export function roomForProgram(seen: readonly Seen[], agent: string): { ofAgent: number; isFree: boolean } {
  const ofAgent = seen.filter((each) => each.isOfProgram && each.agent === agent).length;
  return { ofAgent, isFree: ofAgent < pendingLimits.perAgent && seen.length < pendingLimits.together };
}

/** True if the person may be asked one more on behalf of a conversation. */
export function hasRoom(
  seen: readonly Seen[],
  { agent, conversation }: Pick<Question, "agent" | "conversation">,
): boolean {
  const ofMind = seen.filter((each) => !each.isOfProgram && each.agent === agent);
  return (
    seen.length < pendingLimits.together &&
    ofMind.length < pendingLimits.perMind &&
    ofMind.filter((each) => each.conversation === conversation).length < pendingLimits.perConversation
  );
}

export function subjectOf({ kind, agent, about, countsFor }: Question): Subject {
  return { kind, ...(countsFor === "agent" ? { agent } : {}), about };
}

export const subjectText = ({ kind, agent = "", about }: Subject): string =>
  JSON.stringify([kind, agent, about]);

/** One call may ask about several things. */
export const keyOf = ({ key }: Pick<Asking, "key">, { kind, about }: Question): string =>
  sha256(canonicalJson([key, kind, about]));
