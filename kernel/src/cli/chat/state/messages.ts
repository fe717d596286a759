import type { Part } from "../../../base/vocabulary/conversation.ts";
import type { Logged, Message } from "./transcript.ts";

/** The visible content of a message. */
interface Shown {
  readonly parts: readonly Part[];
  /** It is still being written. */
  readonly isOpen: boolean;
  /** A call is being written. */
  readonly isCalling: boolean;
}

/** Returns what there is of a message: the whole of it, or what came so far. */
export function shownOf(message: Message): Shown {
  const { whole, logged, streamed } = message;
  if (whole !== null) return { parts: whole.parts, isOpen: false, isCalling: false };
  const parts: Part[] = [];
  for (const { type, text } of [...logged.from(0).flatMap(writtenIn), ...streamed.from(0)]) {
    if (type === "tool_call") continue;
    const last = parts.at(-1);
    if (last?.type === type) parts[parts.length - 1] = { type, text: last.text + text };
    else parts.push({ type, text });
  }
  return { parts, isOpen: true, isCalling: isCalling(message) };
}

/** Returns the texts of a partial entry. */
export function writtenIn({
  parts,
}: Logged): { readonly type: "text" | "reasoning"; readonly text: string }[] {
  return parts.flatMap((part) => (part.type === "text" || part.type === "reasoning" ? [part] : []));
}

/** True while the model writes a call. */
export function isCalling({ streamed }: Message): boolean {
  return streamed.last?.type === "tool_call";
}

/** True if a message has what the model thought. */
export function hasThought({ whole, logged, streamed }: Message): boolean {
  const isThought = ({ type }: { readonly type: string }): boolean => type === "reasoning";
  if (whole !== null) return whole.parts.some(isThought);
  return logged.some(({ parts }) => parts.some(isThought)) || streamed.some(isThought);
}

/** True if a message has nothing for the person, and says nothing about why. */
export function isBlank(message: Message): boolean {
  const isWord = (part: Part): boolean =>
    part.type === "text" ? part.text.trim() !== "" : part.type !== "reasoning";
  return message.cut === null && !shownOf(message).parts.some(isWord);
}

/** Returns the ids of the extensions that changed a message, in their order. */
export function changersOf({ changedBy }: Message): string[] {
  return [...new Set([...changedBy].toSorted(([a], [b]) => a - b).map(([, by]) => by))];
}

/** Returns the texts of a message without what was thought. */
export function plainTextOf(message: Message): string {
  return shownOf(message)
    .parts.flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("");
}
