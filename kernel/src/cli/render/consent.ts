import {
  cardState,
  choiceFor,
  countOf,
  grantedChoice,
  isNothing,
  isTicked,
  type Choice,
} from "../../base/consent-choice.ts";
import { fileCountText } from "../../base/file-count.ts";
import { visibleText } from "../../base/visible-text.ts";
import type {
  TrustCard,
  TrustFolder,
  TrustPart,
  TrustProgram,
  TrustQuestion,
} from "../../base/vocabulary/trust.ts";
import { cardKeys } from "../keyboard/card-keys.ts";
import { decisionLines, visibleLines } from "./decision-text.ts";
import { counted } from "./quantities.ts";
import type { Surface } from "./style.ts";

/** A line of the question on which the cursor can stand. */
export type Row =
  | { readonly kind: "card"; readonly card: TrustCard }
  | { readonly kind: "part"; readonly card: TrustCard; readonly part: TrustPart }
  | { readonly kind: "folder"; readonly card: TrustCard; readonly path: string }
  | { readonly kind: "workspace"; readonly part: TrustPart }
  /** A stop without a checkbox, so that all text between two rows is scrolled into view. */
  | { readonly kind: "text" };

/** The number of lines without a row that the cursor may skip at once. */
const maxLinesBetweenRows = 6;

export interface DrawnRow {
  readonly row: Row;
  /** Index into `lines` of its first line. */
  readonly line: number;
}

export interface DrawnQuestion {
  readonly lines: readonly string[];
  readonly rows: readonly DrawnRow[];
}

const gutter = 2;

/**
 * Returns the question as lines of at most `surface.width` columns, one card after the other, and the rows that can be
 * ticked. The kernel has made every character of the texts visible, and they are shown in full. `cursor`: index of the
 * current row; -1 for none.
 */
export function drawQuestion(
  question: TrustQuestion,
  choice: Choice,
  surface: Surface,
  cursor = -1,
): DrawnQuestion {
  const { style, width } = surface;
  const lines: string[] = [];
  const rows: DrawnRow[] = [];
  const say = (text: string, indent: number, paint = (line: string) => line): void => {
    for (const line of visibleLines(text, width - gutter - indent)) {
      const isStop = lines.length - (rows.at(-1)?.line ?? 0) > maxLinesBetweenRows;
      const mark = isStop && rows.length === cursor ? style.cyan("> ") : "  ";
      if (isStop) rows.push({ row: { kind: "text" }, line: lines.length });
      lines.push(`${mark}${" ".repeat(indent)}${paint(line)}`);
    }
  };
  const tick = (
    row: Row,
    mark: string,
    text: string,
    indent: number,
    tag = "",
    paint = (line: string) => line,
  ): void => {
    const isHere = rows.length === cursor;
    rows.push({ row, line: lines.length });
    const [first = "", ...rest] = visibleLines(
      `${text}${tag === "" ? "" : `  (${tag})`}`,
      width - gutter - indent - 4,
    );
    lines.push(
      `${isHere ? style.cyan("> ") : "  "}${" ".repeat(indent)}${isHere ? style.bold(mark) : mark} ${paint(first)}`,
    );
    for (const line of rest) lines.push(`${" ".repeat(gutter + indent + 4)}${paint(line)}`);
  };
  const tickPart = (row: Row, part: TrustPart, isOn: boolean): void => {
    tick(row, box(isOn), part.title, 4, tagOf(part));
    if (part.detail !== undefined) say(part.detail, 8, style.dim);
  };
  const drawCard = (card: TrustCard): void => {
    const mine = choiceFor(choice, card);
    const state = cardState(choice, card);
    const mark = state === "all" ? "[x]" : state === "some" ? "[-]" : "[ ]";
    tick(
      { kind: "card", card },
      mark,
      `${card.name} ${card.version}`,
      0,
      card.state === "unchanged" ? "" : card.state,
      style.bold,
    );
    say(`${card.origin}, ${card.extension}`, 4, style.dim);
    if (card.description !== undefined) say(card.description, 4);
    if (card.answered)
      say(
        card.granted
          ? "You have answered this, and nothing has changed since."
          : "Not allowed. It does not run.",
        4,
        style.dim,
      );
    if (card.program.fault !== undefined) say(`Its program cannot run: ${card.program.fault}`, 4, style.red);
    if (card.changes.length > 0) {
      say("Since your last answer:", 4, style.bold);
      for (const change of card.changes) say(`• ${change}`, 6);
      const { diff } = card.program;
      if (diff !== undefined)
        say(
          `Program: ${counted(diff.files, "file")}, +${diff.added} -${diff.removed}; d shows the difference.`,
          6,
        );
    }
    for (const [group, title, none] of groups) {
      const parts = card.parts.filter((part) => part.group === group);
      if (parts.length === 0 && none === null) continue;
      say(title, 4, style.bold);
      if (parts.length === 0 && none !== null) say(none, 8, style.dim);
      for (const part of parts) tickPart({ kind: "part", card, part }, part, mine.parts.has(part.id));
    }
    const folders = foldersOf(card, choice);
    if (folders.length > 0) {
      say("Where", 4, style.bold);
      for (const { path, title, tag } of folders)
        tick({ kind: "folder", card, path }, box(isTicked(mine, path)), title, 4, tag);
    }
    say("Cannot", 4, style.bold);
    say(card.cannot.map((each) => each.charAt(0).toLowerCase() + each.slice(1)).join(", "), 8);
    for (const [kind, title] of factTitles) {
      const facts = card.facts.filter((fact) => fact.kind === kind);
      if (facts.length === 0) continue;
      say(title, 4, style.bold);
      for (const { text } of facts) say(text, 8);
    }
    lines.push("");
  };
  const { extensions, workspace } = question;
  const asksForNothing = extensions.length + workspace.length === 0;
  if (!asksForNothing) {
    say("What may these agents do? New requests have no effect until you choose.", 0, style.bold);
    lines.push("");
  }
  for (const card of extensions.filter(({ answered }) => !answered)) drawCard(card);
  if (workspace.length > 0) {
    say("This folder's own document also requests:", 0, style.bold);
    for (const part of workspace) tickPart({ kind: "workspace", part }, part, choice.workspace.has(part.id));
    lines.push("");
  }
  for (const card of extensions.filter(({ answered }) => answered)) drawCard(card);
  if (asksForNothing)
    say(
      "No agent is enabled in this folder, so there is nothing to allow. lares run creates a first lares.yaml.",
      0,
    );
  rows.push({ row: { kind: "text" }, line: lines.length - 1 });
  return { lines, rows };
}

const box = (isOn: boolean): string => (isOn ? "[x]" : "[ ]");

const tagOf = ({ change }: Pick<TrustPart | TrustFolder, "change">): string =>
  change === "unchanged" ? "" : change;

const groups = [
  ["see", "May see", "no file"],
  ["change", "May change", "nothing"],
  ["other", "May also", null],
] as const;

const factTitles = [
  ["trigger", "Runs"],
  ["mind", "Talks with you"],
  ["tool", "Offers these tools"],
  ["model", "Uses these models"],
  ["host", "May send requests to these hosts"],
  ["memory", "May open these shared memories, if you allow them"],
  ["file", "Contains these files, and can read them"],
  ["setting", "Has this configuration"],
] as const;

/** The requested folders, and those inside them that the person chose. */
function foldersOf(
  card: TrustCard,
  choice: Choice,
): { readonly path: string; readonly title: string; readonly tag: string }[] {
  const { folders } = choiceFor(choice, card);
  const known = new Set(card.folders.map(({ path }) => path));
  return [
    ...card.folders.map(({ path, title, change, requested, files }) => ({
      path,
      title: files === undefined ? title : `${title} · ${fileCountText(files)}`,
      tag: requested && change !== "unchanged" ? change : requested ? "" : "chosen by you",
    })),
    ...[...folders]
      .filter((path) => !known.has(path))
      .map((path) => ({ path, title: visibleText(path), tag: "chosen by you" })),
  ];
}

/** Returns the lines at the bottom: what is ticked, and the keys. */
export function drawFoot(
  question: TrustQuestion,
  choice: Choice,
  row: Row | undefined,
  { style, width }: Surface,
  enter = enterHint(question, choice),
): string[] {
  const count = countOf(choice, question);
  const keys = [
    `${cardKeys.tick} tick`,
    ...(row?.kind === "folder" ? ["f folder inside"] : []),
    ...(row !== undefined && "card" in row ? [`${cardKeys.program} program`] : []),
    "Tab next agent",
    `${cardKeys.allow} allow all`,
    `${cardKeys.later} not now`,
  ];
  return [
    style.bold(
      `${count.extensions} of ${counted(question.extensions.length, "agent")}${count.isAll ? ", with everything that is requested" : ""}`,
    ),
    ...packed(keys, width).map(style.dim),
    ...visibleLines(enter, width),
  ];
}

function enterHint(question: TrustQuestion, choice: Choice): string {
  const { extensions, parts, isAll } = countOf(choice, question);
  if (isNothing(choice)) {
    if (!isNothing(grantedChoice(question)))
      return "Enter: revokes everything that was allowed; no agent runs";
    return question.answered
      ? "Enter: allows nothing, as before"
      : "Enter: allows nothing, and asks again next time";
  }
  if (isAll) return "Enter: allows everything that is requested";
  return `Enter: allows what is ticked (${counted(extensions, "agent")}, ${counted(parts, "permission")}) and nothing else`;
}

/** Fills lines with as many words as fit; no word is broken. */
function packed(words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const joined = `${lines.at(-1) ?? ""}   ${word}`;
    if (lines.length > 0 && joined.length <= width) lines[lines.length - 1] = joined;
    else lines.push(word);
  }
  return lines;
}

/** Returns one file of a program's difference as lines. */
export function drawProgramFile(file: TrustProgram["files"][number], { style, width }: Surface): string[] {
  const title = `${file.change}, +${file.added} -${file.removed}`;
  const head = decisionLines(file.path, width).map(style.bold);
  if (file.diff === undefined)
    return [...head, style.dim(title), "It cannot be compared, because it is too long or not text.", ""];
  const body = file.diff.split("\n").slice(2);
  if (body.at(-1) === "") body.pop();
  return [
    ...head,
    style.dim(title),
    ...body.flatMap((text) => {
      const sign = text.startsWith("@") ? "" : text.slice(0, 1);
      const paint =
        sign === "+"
          ? style.green
          : sign === "-"
            ? style.red
            : sign === ""
              ? style.cyan
              : (line: string) => line;
      return decisionLines(text.slice(sign.length), width - 2).map((line) =>
        paint(`${sign === "" ? "" : `${sign} `}${line}`),
      );
    }),
    "",
  ];
}

/** Returns the answer, one line per extension, to be left on the terminal. */
export function drawAnswer(question: TrustQuestion, choice: Choice, surface: Surface): string[] {
  return question.extensions.flatMap((card) => {
    const state = cardState(choice, card);
    const { parts } = choiceFor(choice, card);
    const words =
      state === "none"
        ? "not allowed"
        : state === "all"
          ? "allowed everything that it requests"
          : `allowed in part: ${parts.size} of ${counted(card.parts.length, "permission")}`;
    return visibleLines(`${card.name} (${card.extension}): ${words}`, surface.width);
  });
}
