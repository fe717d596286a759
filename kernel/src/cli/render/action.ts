import { effectWords, hasContent } from "../../base/vocabulary/effect-words.ts";
import { extentWords, impactSize } from "../../base/vocabulary/impact-words.ts";
import { actionStateWords } from "../../base/vocabulary/action-words.ts";
import type { Action, ActionState, Effect } from "../../base/vocabulary/action.ts";
import type { PolicyReason } from "../../base/vocabulary/approval-rule.ts";
import { visibleSentence, visibleText } from "../../base/visible-text.ts";
import { requestedByLines } from "../../base/vocabulary/principal.ts";
import { decisionLines, visibleLines } from "./decision-text.ts";
import { renderDiff } from "./diff.ts";
import { oneLine } from "./foreign.ts";
import { counted, dayAndTime } from "./quantities.ts";
import type { Style, Surface } from "./style.ts";
import { displayWidth, wrap } from "./width.ts";

/** In columns; a card is text to be read. */
const widestCard = 100;

/** What a person already sees around a card, so that the card need not repeat it. */
export interface Here {
  /** The id of the conversation that is on the screen. */
  readonly conversation: string;
  /** The document that Lares wrote itself, so that the person does not know it; null if there is none. */
  readonly ownDocument: string | null;
}

interface CardOptions {
  readonly here?: Here;
  /** "2 more after this", if there are more. */
  readonly position?: string;
  /** The effects whose contents are shown beneath the list of effects; by default, all that have a content. */
  readonly contents?: "none" | number;
  /**
   * Why the content of an effect cannot be shown, by its index; other effects without a diff are not text, or too long.
   */
  readonly unread?: ReadonlyMap<number, string>;
}

/**
 * Renders a proposal for a decision: every effect in the kernel's words; the agent and the size of the change; the
 * agent's own text, marked as such; then the contents of the effects. Nothing is cut: see `decisionLines`.
 */
export function renderAction(action: Action, surface: Surface, options: CardOptions = {}): string[] {
  const { style } = surface;
  const width = Math.max(narrowestCard, Math.min(surface.width, widestCard));
  const inner = { ...surface, width: width - 2 };
  const bar = style.dim("│");
  const head = options.position === undefined ? "" : ` ${options.position} `;
  const lines = [
    ...renderEffects(action, inner),
    "",
    ...renderFacts(action, inner),
    ...renderReason(action, inner, options.here),
    ...renderImpactSentence(action, inner),
    "",
    ...renderWords(action, inner),
    ...renderContents(action, inner, options),
    ...renderOutcome(action, inner),
  ];
  return [
    style.dim(`╭─${head}${"─".repeat(Math.max(0, width - 2 - head.length))}`),
    ...lines.map((line) => (line === "" ? bar : `${bar} ${line}`)),
    style.dim(`╰${"─".repeat(width - 1)}`),
  ];
}

/** Below this width, lines wrapped by the terminal are easier to read than the rest of a card. */
const narrowestCard = 24;

function renderEffects({ effects }: Pick<Action, "effects">, surface: Surface): string[] {
  return effects.flatMap((effect) => renderEffect(effect, surface));
}

/**
 * Renders who proposed the action and its result. Omits the state of a waiting action, because its card asks about it.
 */
export function renderFacts(
  action: Action,
  { style, width, isAscii }: Surface,
  more: readonly string[] = [],
): string[] {
  const lines = decisionLines(action.agent, width, { isAscii }).map((line) => style.cyan(line));
  const facts = [
    counted(action.effects.length, "change"),
    ...(action.state === "PendingApproval" ? [] : [renderState(action.state, style)]),
    ...more,
  ];
  for (const fact of facts) {
    const joined = `${lines.at(-1)}${style.dim(" · ")}${fact}`;
    if (displayWidth(joined) > width) lines.push(fact);
    else lines[lines.length - 1] = joined;
  }
  return lines;
}

/** Renders "[#··] Small. Changes 1 file: adds 3 lines, removes 1. Can be undone." */
export function renderImpactSentence(action: Action, { style, width }: Surface): string[] {
  const size = impactSize(action.impact_score);
  const sentence = `${size.charAt(0).toUpperCase()}${size.slice(1)}. ${extentWords(action.effects)} Can be undone.`;
  const [first = "", ...rest] = wrap(sentence, width - meterWidth - 1);
  const margin = " ".repeat(meterWidth + 1);
  return [`${meter(action.impact_score, style)} ${first}`, ...rest.map((line) => margin + line)];
}

/** Renders who led the agent to it, who rebased it and why a person is asked, in the kernel's words. */
function renderReason(action: Action, { style, width, isAscii }: Surface, here?: Here): string[] {
  const { rebased_by: rebaser, asked_because: asked } = action;
  const lines = [
    ...requestedByLines(action).flatMap((line) => decisionLines(seenFrom(line, here), width, { isAscii })),
    ...(rebaser === undefined ? [] : ["You rebased it."]),
    ...(asked === undefined ? [] : visibleLines(reasonText(asked, here), width, { isAscii })),
  ];
  return lines.length === 0 ? [] : ["", ...lines.map((line) => style.dim(line))];
}

/** The title and the reason have a bar at the left, so that none of their lines can pass for the kernel's. */
export function renderWords({ title, reason }: Action, { style, width, isAscii }: Surface): string[] {
  const quoted = (text: string): string[] =>
    decisionLines(text, width - 2, { isAscii }).map((line) => `${style.dim("┆")} ${line}`);
  return [style.dim("In the agent's words:"), ...quoted(title), ...(reason === "" ? [] : quoted(reason))];
}

const meterCells = 3;
const meterWidth = meterCells + 2;

/** Renders [##·]; the colour only repeats what the cells show. */
function meter(score: number, style: Style): string {
  const size = impactSize(score);
  const cells = size === "small" ? 1 : size === "medium" ? 2 : 3;
  const colour = size === "small" ? style.green : size === "medium" ? style.yellow : style.red;
  return `[${colour("#".repeat(cells))}${style.dim("·".repeat(meterCells - cells))}]`;
}

/** Renders "[##·] medium". */
export function renderImpact(score: number, style: Style): string {
  return `${meter(score, style)} ${impactSize(score)}`;
}

/** Renders the word for a state in its colour. */
export function renderState(state: ActionState, style: Style): string {
  const colours: Readonly<Record<ActionState, (text: string) => string>> = {
    PendingApproval: style.yellow,
    Approved: style.blue,
    Committing: style.blue,
    Committed: style.green,
    Rejected: style.red,
    Failed: style.red,
    Stale: style.magenta,
    Expired: style.dim,
    Undone: style.blue,
  };
  return colours[state](actionStateWords[state]);
}

/** Renders one effect: a sign, what happens, and to what. */
export function renderEffect(effect: Effect, { style, width, isAscii }: Surface): string[] {
  const colour = coloursOf(effect, style);
  return visibleLines(effectWords(effect), width - 2, { isAscii }).map(
    (line, row) => `${row === 0 ? colour(signOfEffect(effect)) : " "} ${colour(line)}`,
  );
}

function signOfEffect({ kind, before, after }: Effect): string {
  switch (kind) {
    case "file.move":
      return "→";
    case "file.delete":
      return "✗";
    case "tag.remove":
      return "−";
    case "folder.create":
    case "tag.add":
      return "+";
    case "file.write":
    case "file.edit":
      return before === null ? "+" : "~";
    case "field.set":
    case "sidecar.write":
      return after === null ? "−" : "~";
  }
}

function coloursOf(effect: Effect, style: Style): (text: string) => string {
  const sign = signOfEffect(effect);
  if (sign === "→") return style.blue;
  if (sign === "~") return style.yellow;
  return sign === "+" ? style.green : style.red;
}

function renderContents(action: Action, surface: Surface, options: CardOptions): string[] {
  const { contents } = options;
  if (contents === "none") return [];
  const { effects } = action;
  return effects.flatMap((effect, index) => {
    if (!hasContent(effect) || (contents !== undefined && contents !== index)) return [];
    const head = effects.length === 1 ? [] : renderHead(effect, index, surface);
    return ["", ...head, ...renderContent(action, index, surface, options.unread?.get(index))];
  });
}

function renderHead({ path }: Effect, index: number, { style, width, isAscii }: Surface): string[] {
  const place = style.dim(`Change ${index}:`);
  return [place, ...decisionLines(path, width, { isAscii }).map((line) => style.bold(line))];
}

/** Renders the content of an effect as a diff, or how to look at it if there is no diff. */
export function renderContent(
  { id, effects }: Pick<Action, "id" | "effects">,
  index: number,
  surface: Surface,
  unread: string | undefined,
): string[] {
  const { style, width } = surface;
  const effect = effects[index];
  if (effect === undefined) return [];
  if (effect.diff !== undefined) return renderDiff(effect.diff, surface);
  const sides = (["before", "after"] as const).filter((side) => isReadable(effect, side));
  return [
    ...wrap(unread ?? "There is no diff, because this is not text or is longer than 256 KiB.", width),
    ...sides.flatMap((side) => [
      ...decisionLines(`${side}: ${effect[side] ?? ""}`, width),
      ...wrap(`  lares actions content ${id} --effect ${index} --side ${side} > FILE`, width),
    ]),
  ].map((line) => style.yellow(line));
}

function isReadable(effect: Effect, side: "before" | "after"): boolean {
  return effect[side] !== null && (side === "after" || effect.kind.startsWith("file."));
}

/** Renders who decided, by which rule, and what went wrong; nothing is omitted. */
export function renderOutcome(action: Action, { style, width, isAscii }: Surface): string[] {
  const { decided, error, rejected_reason: said } = action;
  const lines = (text: string, paint: (line: string) => string): string[] =>
    decisionLines(text, width, { isAscii }).map(paint);
  const found = [
    ...(decided === undefined ? [] : lines(`${deciderOf(action)}, ${dayAndTime(decided)}`, style.dim)),
    ...(action.undone_by === undefined || action.ended === undefined
      ? []
      : lines(`Undone by you, ${dayAndTime(action.ended)}`, style.dim)),
    ...(action.rule === undefined
      ? []
      : visibleLines(reasonText(action.rule), width, { isAscii }).map(style.dim)),
    ...(said === undefined ? [] : lines(`You said: ${said}`, style.dim)),
    ...(error === undefined ? [] : lines(error, style.red)),
  ];
  return found.length === 0 ? [] : ["", ...found];
}

function deciderOf({ decided_by: by, edited_by: editor }: Action): string {
  if (by === "policy") return "Decided automatically";
  return editor === "user" ? "Decided by you, with your own text" : "Decided by you";
}

/** Returns a line about who led to something, in the words for a person in that conversation. */
export function seenFrom(line: string, here: Pick<Here, "conversation"> | undefined): string {
  if (here === undefined) return line;
  return line.replaceAll(`in the conversation ${JSON.stringify(here.conversation)}`, "in this conversation");
}

/** Returns a sentence of policy with the line of the document that it refers to. */
export function reasonText({ sentence, place }: PolicyReason, here?: Here): string {
  const said = visibleSentence(sentence);
  return place === undefined || place.path === here?.ownDocument
    ? said
    : `${said} (${visibleText(place.path)}:${place.line})`;
}

/**
 * Renders an action for a running log: "✓ done Archive 1 extra copy of sea.jpg dev.lares.storage". Text that does not
 * fit on a line continues indented on the next. `note`: what else is said of it, in the kernel's words.
 */
export function renderActionLine(action: Action, { style, width }: Surface, note?: string): string[] {
  const parts = [
    `${actionStateWords[action.state]}  ${oneLine(action.title)}`,
    oneLine(action.agent) + (note === undefined ? "" : `  ${note}`),
    ...(action.error === undefined ? [] : [oneLine(action.error)]),
  ];
  const sign = signOf(action.state, style);
  const whole = parts.join("  ");
  if (displayWidth(whole) + 2 <= width) {
    const [, agent = "", error] = parts;
    const end = error === undefined ? "" : `  ${style.red(error)}`;
    return [
      `${sign} ${renderState(action.state, style)}  ${oneLine(action.title)}  ${style.dim(agent)}${end}`,
    ];
  }
  return parts
    .flatMap((part) => wrap(part, width - 2))
    .map((line, index) => (index === 0 ? `${sign} ${line}` : `  ${line}`));
}

function signOf(state: ActionState, style: Style): string {
  if (state === "Committed") return style.green("✓");
  if (state === "PendingApproval") return style.yellow("?");
  if (state === "Rejected" || state === "Failed") return style.red("✗");
  if (state === "Stale") return style.magenta("!");
  return style.blue("•");
}
