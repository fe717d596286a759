import type { Key } from "../keyboard/key.ts";
import type { ChatCommand, ChatStep } from "./input.ts";
import { actionStateWords } from "../../base/vocabulary/action-words.ts";
import { isWaiting, shownItems, type ChatState, type ShownItem } from "./state/state.ts";

/** Returns the state after something else than a key: without the keys at a card that went away by itself. */
export function withoutLostCard(before: ChatState, after: ChatState): ChatState {
  const { focus } = before;
  if (focus === null || before.conversation.id !== after.conversation.id) return after;
  const item = shownItems(before).find(({ key }) => key === focus);
  // A person who has decided has left the card already.
  if (item === undefined || !isWaiting(before, item)) return after;
  const left = shownItems(after).find(({ key }) => key === focus);
  if (left !== undefined && isWaiting(after, left)) return after;
  const text = `The card is gone: ${whyGone(after, item)}. Your next key for it decides nothing.`;
  return { ...after, focus: null, lostKeys: keysOf(item), message: { text, isFault: false } };
}

/** True for a key that was meant for a card which has just gone. */
export function isLost({ lostKeys, composer, panel, focus }: ChatState, key: Key): boolean {
  if (composer.text !== "" || panel !== null || focus !== null) return false;
  return key.text !== "" && lostKeys.includes(key.text);
}

const deciding: ReadonlySet<ChatCommand["kind"]> = new Set(["approve", "answer", "undo"]);

/** Returns the state after a key, which is kept for a while if it decided about a card. */
export function afterKey(key: Key, { state, commands }: ChatStep): ChatState {
  const hasDecided = commands.some(({ kind }) => deciding.has(kind)) && key.text.trim() !== "";
  return hasDecided ? { ...state, decidedBy: { key: key.text, isQuiet: false } } : state;
}

/** True for the key that has just decided about a card, pressed once more. */
export function isRepeated({ decidedBy, panel, focus }: ChatState, key: Key): boolean {
  return decidedBy !== null && panel === null && focus === null && key.text === decidedBy.key;
}

/**
 * Returns the state after a tick. The key of a decision is one of a message again once the decision was carried out, which the
 * screen shows, and the key was not pressed from one tick to the next: one that is held down comes more often.
 */
export function withoutDecision(state: ChatState): ChatState {
  const { decidedBy, busy } = state;
  if (decidedBy === null || busy.size > 0) return state;
  return { ...state, decidedBy: decidedBy.isQuiet ? null : { ...decidedBy, isQuiet: true } };
}

function whyGone({ actions }: ChatState, item: ShownItem): string {
  const action = item.kind === "action" ? actions.get(item.action)?.action : undefined;
  return action === undefined || action.state === "PendingApproval"
    ? "it was decided elsewhere or has expired"
    : actionStateWords[action.state];
}

function keysOf(item: ShownItem): string {
  return item.kind === "ask" ? `arsd${item.ask.scopes.map((_scope, index) => index + 1).join("")}` : "ars";
}
