import { hasContent } from "../../../base/vocabulary/effect-words.ts";
import type { Action } from "../../../base/vocabulary/action.ts";
import { requestedByLines } from "../../../base/vocabulary/principal.ts";
import { hunksOf } from "../state/parts.ts";
import type { Card, ReviewState } from "../state/state.ts";
import type { WholeAction } from "../../run/whole-action.ts";
import {
  reasonText,
  renderContent,
  renderEffect,
  renderFacts,
  renderImpactSentence,
  renderOutcome,
  renderWords,
} from "../../render/action.ts";
import { decisionLines, visibleLines } from "../../render/decision-text.ts";
import { renderDiff } from "../../render/diff.ts";
import type { Surface } from "../../render/style.ts";
import { wrap } from "../../render/width.ts";
import { ageWords, subjectLines } from "./lines.ts";

export interface CardText {
  readonly lines: readonly string[];
  /** The line at which each part begins. */
  readonly parts: readonly number[];
}

const none: CardText = { lines: [], parts: [] };

/** Returns the open change in full: every line, whether or not the screen has room for it. */
export function cardText(state: ReviewState, width: number): CardText {
  const { card, screenStyle } = state;
  const action = card === null ? undefined : state.actions.get(card.id);
  if (card === null || action === undefined) return none;
  const { style, isAscii } = screenStyle;
  const surface = { style, width, isAscii };
  const whole = { ...action, effects: card.whole?.action.effects ?? action.effects };
  const head = [
    ...subjectLines(action, surface),
    ...renderFacts(action, surface, [`proposed ${ageWords(action.created, state.nowMs)}`]),
    ...standing(state, action, surface),
    ...gone(action, surface),
    "",
    ...renderWords(action, surface),
    "",
    ...renderImpactSentence(whole, surface),
    ...why(action, surface),
    ...renderOutcome(action, surface),
    "",
  ];
  if (card.whole === null) return { lines: [...head, style.dim("Reading the changes…")], parts: [] };
  const body = knownBody(card, card.whole, whole, surface);
  const start = head.length;
  return { lines: [...head, ...body.lines], parts: body.parts.map((line) => line + start) };
}

/** With several changes, deletions and moves come first, because they may be below the visible part. */
function gone({ effects }: Action, surface: Surface): string[] {
  if (effects.length === 1) return [];
  const first = effects.filter(({ kind }) => kind === "file.delete");
  const then = effects.filter(({ kind }) => kind === "file.move");
  return [...first, ...then].flatMap((effect) => renderEffect(effect, surface));
}

/** Renders why the action cannot be approved as it was proposed; empty if it can. */
function standing(
  { actions, card }: ReviewState,
  action: Action,
  { style, width, isAscii }: Surface,
): string[] {
  const say = (text: string): string[] => wrap(text, width).map((line) => style.yellow(line));
  if (action.state === "Stale" && action.superseded_by !== undefined)
    return say(
      actions.get(action.superseded_by)?.state === "PendingApproval"
        ? "Replaced by a newer proposal, which is in the list."
        : "Replaced by a newer proposal.",
    );
  if (action.state === "Stale")
    return say(
      action.rebasable === true
        ? "Out of date: its files have changed since. f rebases it on the new text and shows it."
        : "Out of date: its files have changed since. It can never be applied.",
    );
  if (card !== null && card.edits.size > 0)
    return decisionLines("This is your text instead of the agent's. a approves it.", width, { isAscii });
  return [];
}

function why(action: Action, { style, width, isAscii }: Surface): string[] {
  const { asked_because: reason, state } = action;
  return [
    ...requestedByLines(action).flatMap((line) => decisionLines(line, width, { isAscii })),
    ...(reason === undefined || state !== "PendingApproval"
      ? []
      : visibleLines(`You are asked because: ${reasonText(reason)}`, width, { isAscii })),
  ].map((line) => style.dim(line));
}

/** A card is drawn for every key, but few keys change its contents, so the last text is cached. */
const bodies = new WeakMap<WholeAction, { readonly key: readonly unknown[]; readonly text: CardText }>();

function knownBody(card: Card, contents: WholeAction, action: Action, surface: Surface): CardText {
  const key = [surface.style, surface.width, surface.isAscii, card.part, card.leftOut, card.edits];
  const known = bodies.get(contents);
  if (known !== undefined && known.key.every((value, index) => value === key[index])) return known.text;
  const text = bodyOf(card, action, surface);
  bodies.set(contents, { key, text });
  return text;
}

function bodyOf(card: Card, { id, effects }: Action, surface: Surface): CardText {
  const lines: string[] = [];
  const starts: number[] = [];
  const parts = card.parts;
  effects.forEach((effect, index) => {
    if (index > 0) lines.push("");
    const own = parts.flatMap((part, place) => (part.effect === index ? [{ ...part, place }] : []));
    const edited = card.edits.get(index);
    const heads = own.map(({ place }) => partHead(card, place, surface));
    if (own.length === 1) {
      starts.push(lines.length);
      lines.push(heads[0] ?? "");
    }
    lines.push(...renderEffect(effect, surface));
    if (edited !== undefined) {
      lines.push(surface.style.yellow("Your text:"), ...renderDiff(edited.diff, surface));
    } else if (own.length > 1) {
      const hunks = hunksOf(effect.diff ?? "");
      own.forEach(({ hunk }, order) => {
        if (order > 0) lines.push("");
        starts.push(lines.length);
        lines.push(heads[order] ?? "", ...renderDiff(hunks[hunk ?? 0] ?? "", surface));
      });
    } else if (hasContent(effect))
      lines.push(...renderContent({ id, effects }, index, surface, card.whole?.unread.get(index)));
  });
  return { lines, parts: starts };
}

/** "▌[x] Part 2 of 3" */
function partHead(card: Card, place: number, { style }: Surface): string {
  const bar = place === card.part ? style.cyan("▌") : " ";
  const isLeftOut = card.leftOut.has(place);
  const words = `${isLeftOut ? "[ ]" : "[x]"} Part ${place + 1} of ${card.parts.length}${isLeftOut ? ", left out" : ""}`;
  return bar + (isLeftOut ? style.dim(words) : style.bold(words));
}
