import { layoutOf } from "./render/screen.ts";
import type { Command, Step } from "./input.ts";
import {
  currentAction,
  newCard,
  rowsOf,
  sectionNamed,
  sectionRow,
  type Card,
  type ReviewState,
  type Row,
} from "./state/state.ts";

/**
 * How long a card that appeared by itself, or whose end was just paged to, has to be on the screen before a key
 * approves it.
 */
const settleMs = 500;

export type ReviewStep = Step<ReviewState>;

export const stay = (state: ReviewState, ...commands: readonly Command[]): ReviewStep => ({
  state,
  commands,
});

export function say(state: ReviewState, text: string): ReviewStep {
  return stay({ ...state, message: { text, isFault: false } });
}

export function complain(state: ReviewState, text: string): ReviewStep {
  return stay({ ...state, message: { text, isFault: true } });
}

/** Makes a row the current one and loads its change. */
export function goTo(state: ReviewState, row: string | null, cameByItself = false): ReviewStep {
  if (row === state.current && (state.card !== null || row === null || sectionNamed(row) !== null))
    return stay(withListInSight(state));
  const moved = { ...state, current: row };
  const action = currentAction(moved);
  if (action === null) return stay(withListInSight({ ...moved, card: null, isFull: false }));
  return stay(withListInSight({ ...moved, card: newCard(action, cameByItself) }), {
    kind: "load",
    id: action.id,
  });
}

export function moveBy(state: ReviewState, by: number): ReviewStep {
  const rows = rowsOf(state);
  const at = rows.findIndex(({ id }) => id === state.current);
  const next = rows[Math.max(0, Math.min(rows.length - 1, at + by))];
  return goTo(state, next?.id ?? null);
}

/** Returns the row that becomes current when this one is decided: the next waiting one, otherwise the one before. */
export function afterDecision(rows: readonly Row[], id: string): string {
  const waiting = rows.filter((row) => row.kind === "action" && row.section === "waiting");
  const at = waiting.findIndex((row) => row.id === id);
  return (waiting[at + 1] ?? waiting[at - 1])?.id ?? sectionRow("waiting");
}

/** Scrolls the list so that the whole current row is visible, if it fits. */
export function withListInSight(state: ReviewState): ReviewState {
  const { list, bodyRows } = layoutOf(state);
  const first = list.findIndex(({ row }) => row === state.current);
  const last = list.findLastIndex(({ row }) => row === state.current);
  let top = Math.min(state.listTop, Math.max(0, list.length - 1));
  if (first !== -1) {
    if (last >= top + bodyRows) top = last - bodyRows + 1;
    if (first < top) top = first;
    // The heading above the first row belongs to it.
    if (first <= 1) top = 0;
  }
  return top === state.listTop ? state : { ...state, listTop: top };
}

/** Returns `state` after the list changed, with the current row on the same line of the screen as in `before`. */
export function withListInPlace(before: ReviewState, state: ReviewState): ReviewState {
  const line = ({ list }: { list: readonly { row: string | null }[] }): number =>
    list.findIndex(({ row }) => row === state.current);
  const [was, is] = [line(layoutOf(before)), line(layoutOf(state))];
  const listTop = was === -1 || is === -1 ? state.listTop : Math.max(0, state.listTop + is - was);
  return withListInSight({ ...state, listTop });
}

export function scrolled(state: ReviewState, card: Card, to: number): ReviewState {
  const { card: text, bodyRows } = layoutOf(state);
  const scroll = Math.max(0, Math.min(to, text.lines.length - bodyRows));
  return { ...state, card: { ...card, scroll } };
}

/** Scrolls as little as possible so that the part with the focus begins on the screen. */
export function withPartInSight(state: ReviewState): ReviewState {
  const { card } = state;
  if (card === null) return state;
  const { card: text, bodyRows } = layoutOf(state);
  const start = text.parts[card.part] ?? 0;
  const end = (text.parts[card.part + 1] ?? text.lines.length) - 1;
  if (start < card.scroll) return scrolled(state, card, start);
  return end < card.scroll + bodyRows ? state : scrolled(state, card, Math.min(start, end - bodyRows + 1));
}

/** Records that the person has seen what is on the screen now. */
export function seen(state: ReviewState, atMs: number): ReviewState {
  const { card } = state;
  if (card === null || card.whole === null) return state;
  const { showsCard, card: text, bodyRows, cardWidth } = layoutOf(state);
  if (!showsCard || bodyRows === 0) return state;
  // Another width wraps the text into different lines.
  const seenTo = card.seenAtWidth === cardWidth ? card.seenTo : 0;
  const bottom = card.scroll + bodyRows;
  const to = card.scroll <= seenTo ? Math.max(seenTo, bottom) : seenTo;
  const isSeen = card.isSeen || to >= text.lines.length;
  const hasJustCome = isSeen && !card.isSeen && (card.cameByItself || card.isDrawn);
  const next: Card = {
    ...card,
    seenTo: to,
    seenAtWidth: cardWidth,
    isSeen,
    isDrawn: true,
    settledAtMs: hasJustCome ? atMs + settleMs : card.settledAtMs,
  };
  return { ...state, card: next };
}
