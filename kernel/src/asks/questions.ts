import type { Ask, Asking, Question } from "../base/vocabulary/ask.ts";
import { canonicalJson } from "../base/json.ts";
import { sha256 } from "../platform/files/hash.ts";

/** The number of questions that may wait at once: of one agent's program, of one conversation, of one mind, and of all. */
const pendingLimits = { perAgent: 8, perConversation: 3, perMind: 64, together: 256 } as const;

/** The number of questions that wait until there is room for them. Each belongs to a process, so there are never so many. */
export const maxUnseen = 4_096;

export type { Question };

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

/** Returns a key that equal questions share. The client at which a person works makes no difference. */
export function identityOf({ on_behalf_of: who = [], ...question }: Question): string {
  return canonicalJson({ ...question, who: who.filter(({ kind }) => kind !== "person") });
}

/** One call may ask about several things. */
export const keyOf = ({ key }: Pick<Asking, "key">, { kind, about }: Question): string =>
  sha256(canonicalJson([key, kind, about]));

/** A question that waits for an answer, shown or unseen. */
export interface Waiting {
  ask: Ask;
  readonly question: Question;
  readonly subject: Subject;
  readonly waiters: Set<(ended: Ask) => void>;
  /** Null while it is unseen: its time has not begun. */
  timer: Disposable | null;
  /** Set for a question that outlives its kernel: resolves once the next kernel would find it. */
  stored: Promise<void> | null;
  /** True until there is room for the question; no person is asked before that. */
  isUnseen: boolean;
  /** True while an answer is being stored; the answer takes precedence over everything else that ends the question. */
  isBeingAnswered: boolean;
}
