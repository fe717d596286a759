import { effectWords, hasContent } from "../../base/effect-words.ts";
import type { Action, ActionState, Effect } from "../../base/vocabulary/action.ts";
import { decisionLines, visibleLines } from "./decision-text.ts";
import { renderDiff } from "./diff.ts";
import { oneLine } from "./foreign.ts";
import { counted, dayAndTime } from "./quantities.ts";
import type { Style, Surface } from "./style.ts";
import { displayWidth, truncate, wrap } from "./width.ts";

/** Columns; a card is text to be read. */
const widestCard = 100;

export interface CardOptions {
  /** "2 more after this", where there are more. */
  readonly position?: string;
  /** Which effects' contents are shown beneath what all of them do; default all that have one. */
  readonly contents?: "none" | number;
  /** Why the content of an effect is not shown, by its index; the others without a diff are no text, or too long. */
  readonly unread?: ReadonlyMap<number, string>;
}

/**
 * A proposal as a person decides on it: what every effect does, in the kernel's words; who and how much; the agent's words,
 * as the agent's; then the effects' contents. Nothing of it is cut: see `decisionLines`.
 */
export function renderAction(action: Action, surface: Surface, options: CardOptions = {}): string[] {
  const { style } = surface;
  const width = Math.max(30, Math.min(surface.width, widestCard));
  const inner = { style, width: width - 2 };
  const bar = style.dim("│");
  const head = options.position === undefined ? "" : ` ${options.position} `;
  const lines = [
    ...action.effects.flatMap((effect) => renderEffect(effect, inner)),
    ...renderFacts(action, inner),
    ...renderReason(action, inner),
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

function renderFacts(action: Action, { style, width }: Surface): string[] {
  const agent = decisionLines(action.agent, width).map((line) => style.cyan(line));
  const facts = [
    `impact ${renderImpact(action.impact_score, style)}`,
    counted(action.effects.length, "effect"),
    // A card that asks is about a proposal that waits; only another state is worth a word.
    ...(action.state === "PendingApproval" ? [] : [renderState(action.state, style)]),
  ];
  const lines = [...agent];
  for (const fact of facts) {
    const joined = `${lines.at(-1)}${style.dim(" · ")}${fact}`;
    if (displayWidth(joined) > width) lines.push(fact);
    else lines[lines.length - 1] = joined;
  }
  return ["", ...lines];
}

/** Why it is asked, or which rule decided it, in the kernel's words. */
function renderReason({ asked_because: asked, rule }: Action, { style, width }: Surface): string[] {
  const reason = asked ?? rule;
  if (reason === undefined) return [];
  const { sentence, place } = reason;
  const text = place === undefined ? sentence : `${sentence} (${place.path}:${place.line})`;
  return ["", ...decisionLines(text, width).map((line) => style.dim(line))];
}

/** Title and reason stand behind a bar of their own, so that no line of them passes for the kernel's. */
function renderWords({ title, reason }: Action, { style, width }: Surface): string[] {
  const quoted = (text: string): string[] =>
    decisionLines(text, width - 2).map((line) => `${style.dim("┆")} ${line}`);
  return ["", style.dim("In the agent's words:"), ...quoted(title), ...(reason === "" ? [] : quoted(reason))];
}

const barCells = 10;

/** ▰▰▱▱▱▱▱▱▱▱ 0.18 */
export function renderImpact(score: number, style: Style): string {
  const bounded = Math.min(1, Math.max(0, score));
  const cells = bounded > 0 ? Math.max(1, Math.round(bounded * barCells)) : 0;
  const colour = bounded < 0.3 ? style.green : bounded < 0.7 ? style.yellow : style.red;
  return `${colour("▰".repeat(cells))}${style.dim("▱".repeat(barCells - cells))} ${bounded.toFixed(2)}`;
}

/** The word for a state, in its colour. */
export function renderState(state: ActionState, style: Style): string {
  switch (state) {
    case "PendingApproval":
      return style.yellow("waits for you");
    case "Approved":
    case "Committing":
      return style.blue("being carried out");
    case "Committed":
      return style.green("done");
    case "Rejected":
      return style.red("rejected");
    case "Failed":
      return style.red("failed");
    case "Stale":
      return style.magenta("stale");
    case "Expired":
      return style.dim("expired");
    case "Undone":
      return style.blue("undone");
  }
}

/** One effect in words: a sign, what happens, and to what. */
function renderEffect(effect: Effect, { style, width }: Surface): string[] {
  const colour = coloursOf(effect, style);
  return visibleLines(effectWords(effect), width - 2).map(
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
    return ["", ...head, ...renderContent(action, effect, index, surface, options.unread?.get(index))];
  });
}

function renderHead({ path }: Effect, index: number, { style, width }: Surface): string[] {
  const place = style.dim(`Effect ${index}:`);
  return [place, ...decisionLines(path, width).map((line) => style.bold(line))];
}

function renderContent(
  { id }: Action,
  effect: Effect,
  index: number,
  { style, width }: Surface,
  unread: string | undefined,
): string[] {
  if (effect.diff !== undefined) return renderDiff(effect.diff, { style, width });
  const sides = (["before", "after"] as const).filter((side) => isReadable(effect, side));
  return [
    ...wrap(unread ?? "No text, or more than 256 KiB of it, so there is no diff.", width),
    ...sides.flatMap((side) => [
      ...decisionLines(`${side}: ${effect[side] ?? ""}`, width),
      ...wrap(`  lares actions content ${id} --effect ${index} --side ${side} > FILE`, width),
    ]),
  ].map((line) => style.yellow(line));
}

function isReadable(effect: Effect, side: "before" | "after"): boolean {
  return effect[side] !== null && (side === "after" || effect.kind.startsWith("file."));
}

function renderOutcome(action: Action, { style, width }: Surface): string[] {
  const lines: string[] = [];
  if (action.decided !== undefined) {
    const who = action.decided_by === "policy" ? "by your rules" : "by you";
    lines.push(style.dim(`decided ${who}, ${dayAndTime(action.decided)}`));
  }
  if (action.error !== undefined) {
    lines.push(...decisionLines(action.error, width).map((line) => style.red(line)));
  }
  return lines.length === 0 ? [] : ["", ...lines];
}

/** An action in one line, for what passes by: "✓ done  Archive 1 extra copy of sea.jpg  (dev.lares.storage)" */
export function renderActionLine(action: Action, { style, width }: Surface): string {
  const state = renderState(action.state, style);
  const room = Math.max(16, width - displayWidth(state) - displayWidth(action.agent) - 12);
  const title = truncate(oneLine(action.title), room);
  const error = action.error === undefined ? "" : style.red(` — ${truncate(oneLine(action.error), width)}`);
  return `${signOf(action.state, style)} ${state}  ${title}  ${style.dim(oneLine(action.agent))}${error}`;
}

function signOf(state: ActionState, style: Style): string {
  if (state === "Committed") return style.green("✓");
  if (state === "PendingApproval") return style.yellow("?");
  if (state === "Rejected" || state === "Failed") return style.red("✗");
  if (state === "Stale") return style.magenta("!");
  return style.blue("•");
}
