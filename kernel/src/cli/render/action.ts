import type { Action, ActionState, Effect } from "../../base/vocabulary/action.ts";
import { renderChangeCount, renderDiff } from "./diff.ts";
import { manyLines, oneLine } from "./foreign.ts";
import { counted, dayAndTime } from "./quantities.ts";
import type { Style, Surface } from "./style.ts";
import { displayWidth, truncate, truncateMiddle, wrap } from "./width.ts";

/** Columns; a card is text to be read. */
const widestCard = 100;

export interface CardOptions {
  /** "2 of 5", where there are more. */
  readonly position?: string;
  /** Diff lines of one effect. */
  readonly maxDiffLines: number;
  readonly maxEffects: number;
}

export const briefCard: CardOptions = { maxDiffLines: 24, maxEffects: 12 };
export const fullCard: CardOptions = { maxDiffLines: 10_000, maxEffects: 1000 };

/** A proposal as a person decides on it: what, who, how much, why, and each effect with its diff. */
export function renderAction(action: Action, surface: Surface, options: CardOptions): string[] {
  const { style } = surface;
  const width = Math.max(30, Math.min(surface.width, widestCard));
  const inner = { style, width: width - 3 };
  const bar = style.dim("│");
  const head = options.position === undefined ? "" : ` ${options.position} `;
  const lines = [
    ...wrap(oneLine(action.title), inner.width).map((line) => style.bold(line)),
    ...renderFacts(action, inner),
    ...renderReason(action.reason, inner),
    "",
    ...renderEffects(action.effects, inner, options),
    ...renderOutcome(action, inner),
  ];
  return [
    style.dim(`╭─${head}${"─".repeat(Math.max(0, width - 2 - head.length))}`),
    ...lines.map((line) => `${bar} ${line}`.trimEnd()),
    style.dim(`╰${"─".repeat(width - 1)}`),
  ];
}

function renderFacts(action: Action, { style, width }: Surface): string[] {
  const facts = [
    style.cyan(truncate(oneLine(action.agent), width)),
    `impact ${renderImpact(action.impact_score, style)}`,
    counted(action.effects.length, "effect"),
    // A card that asks is about a proposal that waits; only another state is worth a word.
    ...(action.state === "PendingApproval" ? [] : [renderState(action.state, style)]),
  ];
  const lines: string[] = [];
  for (const fact of facts) {
    const last = lines.at(-1);
    const joined = last === undefined ? fact : `${last}${style.dim(" · ")}${fact}`;
    if (last === undefined || displayWidth(joined) > width) lines.push(fact);
    else lines[lines.length - 1] = joined;
  }
  return lines;
}

function renderReason(reason: string, { width }: Surface): string[] {
  const text = oneLine(reason);
  return text === "" ? [] : ["", ...wrap(text, width)];
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

function renderEffects(effects: readonly Effect[], surface: Surface, options: CardOptions): string[] {
  const shown = effects.slice(0, options.maxEffects);
  const lines = shown.flatMap((effect) => renderEffect(effect, surface, options.maxDiffLines));
  if (effects.length > shown.length)
    lines.push(surface.style.dim(`… ${effects.length - shown.length} more effects`));
  return lines;
}

/** One effect: a sign, the path, what happens to it, and the diff where there is one. */
export function renderEffect(effect: Effect, surface: Surface, maxDiffLines: number): string[] {
  const { style, width } = surface;
  const room = Math.max(12, width - 4);
  const path = truncateMiddle(oneLine(effect.path), room);
  const note = (text: string): string =>
    style.dim(truncate(oneLine(text), Math.max(8, room - displayWidth(path) - 2)));
  switch (effect.kind) {
    case "file.move":
      return [
        `${style.blue("→")} ${truncateMiddle(oneLine(effect.from ?? "?"), room)}`,
        `  ${style.dim("↳")} ${style.blue(truncateMiddle(oneLine(effect.path), room - 2))}`,
      ];
    case "file.delete":
      return [
        `${style.red("✗")} ${style.red(path)}  ${note("deleted")}`,
        ...diffOf(effect, surface, maxDiffLines),
      ];
    case "file.write":
    case "file.edit": {
      const sign = effect.before === null ? style.green("+") : style.yellow("~");
      const change =
        effect.diff === undefined || effect.diff === ""
          ? note(effect.summary)
          : renderChangeCount(effect.diff, style);
      return [`${sign} ${path}  ${change}`, ...diffOf(effect, surface, maxDiffLines)];
    }
    case "folder.create":
      return [`${style.green("+")} ${path}/  ${note("new folder")}`];
    case "tag.add":
      return [
        `${style.green("+")} ${path}  ${style.cyan(truncate(oneLine(effect.tag ?? effect.summary), room))}`,
      ];
    case "tag.remove":
      return [
        `${style.red("−")} ${path}  ${style.cyan(truncate(oneLine(effect.tag ?? effect.summary), room))}`,
      ];
    case "field.set":
    case "sidecar.write":
      return [
        `${style.yellow("~")} ${path}  ${note(effect.summary)}`,
        ...diffOf(effect, surface, maxDiffLines),
      ];
  }
}

function diffOf(effect: Effect, { style, width }: Surface, maxLines: number): string[] {
  if (effect.diff === undefined || effect.diff === "") return [];
  return renderDiff(effect.diff, { style, width: width - 2 }, maxLines).map((line) => `  ${line}`);
}

function renderOutcome(action: Action, { style, width }: Surface): string[] {
  const lines: string[] = [];
  if (action.decided !== undefined) {
    const who = action.decided_by === "policy" ? "by your rules" : "by you";
    lines.push(style.dim(`decided ${who}, ${dayAndTime(action.decided)}`));
  }
  if (action.error !== undefined) {
    lines.push(
      ...manyLines(action.error)
        .flatMap((line) => wrap(line, width))
        .map((line) => style.red(line)),
    );
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
