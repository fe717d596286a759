import { needsCare } from "../../../base/vocabulary/impact-words.ts";
import type { Action } from "../../../base/vocabulary/action.ts";
import type { ScreenStyle } from "../../render/screen-style.ts";
import type { WholeAction } from "../../run/whole-action.ts";
import { partsOf, type Part } from "./parts.ts";
import { sectionsOf, sectionIds, type Section, type SectionId } from "./sections.ts";

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** A text that the person wrote in place of the agent's, with its diff from the current file. */
export interface EditedText {
  readonly text: string;
  readonly diff: string;
}

/** The state of the change that is open at the right. */
export interface Card {
  readonly id: string;
  readonly digest: string;
  /** Null while it is being loaded. */
  readonly whole: WholeAction | null;
  /** The first visible line. */
  readonly scroll: number;
  /** The number of lines from the top that have been on the screen without a gap, at this width. */
  readonly seenTo: number;
  readonly seenAtWidth: number;
  /** Every line has been on the screen. */
  readonly isSeen: boolean;
  /** The card has been drawn with its contents. */
  readonly isDrawn: boolean;
  /**
   * The time from which a key may approve it, so that a key that is held down does not decide the next change, too.
   * Milliseconds.
   */
  readonly settledAtMs: number;
  /** It appeared after a decision, not because a key asked for it. */
  readonly cameByItself: boolean;
  readonly parts: readonly Part[];
  /** The part that `y` and `n` apply to. */
  readonly part: number;
  readonly leftOut: ReadonlySet<number>;
  readonly edits: ReadonlyMap<number, EditedText>;
}

/** The panel that is open at the bottom and receives the keys. */
export type Panel =
  | { readonly kind: "filter"; readonly text: string }
  | { readonly kind: "reason"; readonly ids: readonly string[]; readonly text: string }
  | { readonly kind: "scopes"; readonly id: string; readonly digest: string }
  | { readonly kind: "confirm"; readonly confirm: Confirmation; readonly question: string }
  | { readonly kind: "keys" };

export type Confirmation =
  | { readonly kind: "approve"; readonly id: string; readonly digest: string }
  | { readonly kind: "approveSelected"; readonly selected: ReadonlyMap<string, string> }
  | { readonly kind: "undoAll"; readonly ids: readonly string[] };

interface Message {
  readonly text: string;
  readonly isFault: boolean;
}

export interface ReviewState {
  readonly screenStyle: ScreenStyle;
  readonly size: Size;
  readonly workspace: string;
  readonly nowMs: number;
  /** By id, without diffs. */
  readonly actions: ReadonlyMap<string, Action>;
  readonly decidedHere: ReadonlySet<string>;
  /** Being decided; keys do not apply to them. */
  readonly busy: ReadonlySet<string>;
  readonly open: ReadonlySet<SectionId>;
  readonly filter: string;
  /** The id of the current row: an action's id, or a `sectionRow`. Null if there is no such row. */
  readonly current: string | null;
  readonly card: Card | null;
  /** The card has the whole width. */
  readonly isFull: boolean;
  /** The first visible line of the list. */
  readonly listTop: number;
  /** Ids with the digests they had when they were selected. */
  readonly selected: ReadonlyMap<string, string>;
  readonly panel: Panel | null;
  readonly message: Message | null;
}

export function newReview(
  screenStyle: ScreenStyle,
  size: Size,
  workspace: string,
  nowMs: number,
): ReviewState {
  return {
    screenStyle,
    size,
    workspace,
    nowMs,
    actions: new Map(),
    decidedHere: new Set(),
    busy: new Set(),
    open: new Set(["waiting", "decided"]),
    filter: "",
    current: null,
    card: null,
    isFull: false,
    listTop: 0,
    selected: new Map(),
    panel: null,
    message: null,
  };
}

export function newCard({ id, digest }: Action, cameByItself: boolean): Card {
  return {
    id,
    digest,
    whole: null,
    scroll: 0,
    seenTo: 0,
    seenAtWidth: 0,
    isSeen: false,
    isDrawn: false,
    settledAtMs: 0,
    cameByItself,
    parts: [],
    part: 0,
    leftOut: new Set(),
    edits: new Map(),
  };
}

/** Returns the card with its contents; an edited text cannot be taken in parts. */
export function cardWith(card: Card, whole: WholeAction): Card {
  const parts =
    card.edits.size > 0
      ? partsOf(whole.action.effects.map(({ diff: _diff, ...effect }) => effect))
      : partsOf(whole.action.effects);
  return { ...card, whole, parts, part: 0, leftOut: new Set(), scroll: 0, seenTo: 0, isSeen: false };
}

export type Row =
  | { readonly kind: "section"; readonly id: string; readonly section: SectionId; readonly count: number }
  | { readonly kind: "action"; readonly id: string; readonly section: SectionId; readonly action: Action };

export const sectionRow = (id: SectionId): string => `section ${id}`;

export function visibleSections({ actions, decidedHere, filter }: ReviewState): Section[] {
  return sectionsOf(actions.values(), decidedHere, filter);
}

/** Returns the rows of the list in order. A folded section has only its current row. */
export function rowsOf(state: ReviewState, sections = visibleSections(state)): Row[] {
  return sections.flatMap(({ id: section, actions }): Row[] => {
    if (actions.length === 0 && section !== "waiting") return [];
    const shown = state.open.has(section) ? actions : actions.filter(({ id }) => id === state.current);
    return [
      { kind: "section", id: sectionRow(section), section, count: actions.length },
      ...shown.map((action) => ({ kind: "action" as const, id: action.id, section, action })),
    ];
  });
}

export function currentAction(state: ReviewState): Action | null {
  return state.current === null ? null : (state.actions.get(state.current) ?? null);
}

export function sectionNamed(row: string): SectionId | null {
  return sectionIds.find((id) => sectionRow(id) === row) ?? null;
}

/** True for an action that may be decided together with others: it waits, is small enough, and deletes nothing. */
export function isSelectable(action: Action): boolean {
  return action.state === "PendingApproval" && !needsCare(action);
}
