import type { Conversation } from "../../../base/vocabulary/conversation.ts";
import { oneLine } from "../../render/foreign.ts";
import { dayAndTime } from "../../render/quantities.ts";

/** A conversation that can be continued, with what a person needs to recognise it. */
export interface ConversationChoice {
  readonly conversation: Conversation;
  readonly agentName: string;
  /** Actions and questions in it that wait for the person. */
  readonly waiting: number;
}

export function titleOf({ title }: Pick<Conversation, "title">): string {
  return title === "" ? "Without a title" : oneLine(title);
}

/** Returns which conversation it was copied from: the title of a copy is the same. Null for one that is not a copy. */
export function copyOf({ forked_from: origin }: Pick<Conversation, "forked_from">): string | null {
  return origin === undefined ? null : `copy of ${oneLine(origin.conversation).slice(-8)}`;
}

/** Returns in one line what matters most about a conversation, that first: whether it waits, what is unread, when and who. */
export function factsOf({ conversation, agentName, waiting }: ConversationChoice): string {
  const { unread, updated } = conversation;
  const copy = copyOf(conversation);
  return [
    ...(waiting > 0 ? [`${waiting} ${waiting === 1 ? "waits" : "wait"} for you`] : []),
    ...(unread > 0 ? [`${unread} unread`] : []),
    ...(copy === null ? [] : [copy]),
    dayAndTime(updated),
    oneLine(agentName),
  ].join("  ");
}
