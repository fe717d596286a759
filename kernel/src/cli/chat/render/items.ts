import { cutWords } from "../../../base/cut-answer.ts";
import { shownArguments } from "../../../base/vocabulary/ask-arguments.ts";
import { keptForRetry, leftUnread, silentHere, stoppedHere } from "../../../base/turn-ends.ts";
import type { Action } from "../../../base/vocabulary/action.ts";
import type { Part, Process } from "../../../base/vocabulary/conversation.ts";
import type { ToolResult } from "../../../base/vocabulary/tool-result.ts";
import { stateOfAction, type ChatState, type ShownItem } from "../state/state.ts";
import { conclusionOf, itemsOf } from "../state/items.ts";
import { type Call, type Message } from "../state/transcript.ts";
import { changersOf } from "../state/messages.ts";
import { renderAction, renderActionLine, type Here } from "../../render/action.ts";
import { renderAsk } from "../../render/asks.ts";
import { manyLines, oneLine } from "../../render/foreign.ts";
import { renderMarkdown } from "../../render/markdown.ts";
import { noticeLines } from "../../render/notifications.ts";
import { bytes } from "../../render/quantities.ts";
import { joinPieces } from "../../review/render/lines.ts";
import { chained, type Lines } from "../../render/lines.ts";
import { hardWrap } from "../../render/spans.ts";
import { noStyle, type Surface } from "../../render/style.ts";
import { displayWidth, truncate, wrap } from "../../render/width.ts";
import { answersTo } from "../../render/question-keys.ts";
import { processLine } from "./process-line.ts";
import { writtenLines } from "./written.ts";

/** The lines of one opened call or process. */
const maxOpenLines = 500;
/** Characters of the arguments of a call that a question is about, until it is opened and then. */
const maxClosedArguments = 500;
const maxOpenArguments = 16_000;
/** A card that is longer is shown without the contents until it is opened. */
const maxClosedCard = 24;

/** Renders one item of a transcript. */
export function itemLines(state: ChatState, item: ShownItem, surface: Surface): Lines {
  const isOpen = state.open.has(item.key);
  switch (item.kind) {
    case "message": {
      const { message } = item;
      if (message.whole === null) return writtenLines(message, isOpen, surface, item.ending);
      const { parts } = message.whole;
      const isPinned = state.transcript.pins.get(item.key)?.value === true;
      return cached(message, [surface.style, surface.width, isOpen, isPinned], () => [
        ...messageLines(message, parts, isOpen, surface),
        ...(isPinned
          ? [surface.style.dim(truncate("• Pinned: it stays in the context.", surface.width))]
          : []),
      ]);
    }
    case "call":
      return cached(item.call, [surface.style, surface.width, isOpen], () =>
        callLines(item.call, isOpen, surface),
      );
    case "action":
      return actionLines(state, item, surface);
    case "ask":
      return askLines(state, item, isOpen, surface);
    case "process":
      return processLines(state, item.process, isOpen, surface);
    case "end":
      return endLines(item.process, item.unread, surface);
    case "notice":
      return noticeLines(item.notice, surface);
    case "undone": {
      const title = state.actions.get(item.action)?.action.title ?? "a change";
      return signedText(surface.style.blue("•"), `Undone: ${title}`, surface);
    }
    case "remark": {
      const { style, width } = surface;
      const { remark } = item;
      if (remark.kind === "notice")
        return signed(noticeSign(remark.text, style), wrap(oneLine(remark.text), width - 2));
      const head = `${isOpen ? "▾" : "▸"} Earlier messages are summarised; all of them stay in the log.`;
      return [
        ...wrap(head, width).map((line) => style.dim(line)),
        ...(isOpen ? foreignLines(remark.text, surface) : []),
      ];
    }
  }
}

/** What went well or was the person's own wish, in the kernel's words. */
const goodNews = "The schedule was accepted.";
const ownWish = "The schedule was not accepted, and is gone.";

function noticeSign(text: string, style: Surface["style"]): string {
  if (text === goodNews) return style.green("✓");
  return text === ownWish ? style.dim("•") : style.yellow("!");
}

function messageLines(message: Message, parts: readonly Part[], isOpen: boolean, surface: Surface): string[] {
  const { style, width } = surface;
  if (message.role === "user") {
    const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
    const files = parts.flatMap((part) =>
      part.type === "file" ? [oneLine(part.path)] : part.type === "image" ? [pictureWords(part)] : [],
    );
    const changers = changersOf(message).map(oneLine);
    const remarks = [
      ...(files.length === 0 ? [] : [`with ${files.join(", ")}`]),
      // Without it, the words of an extension would pass for the person's own.
      ...(changers.length === 0 ? [] : [`changed by ${changers.join(", ")}`]),
    ];
    return [
      ...personLines(text, surface).map((line) => style.bold(line)),
      ...remarks.flatMap((remark) => wrap(remark, width - 2)).map((line) => style.dim(`  ${line}`)),
    ];
  }
  const lines: string[] = [];
  for (const part of parts) {
    if (part.type === "reasoning")
      for (const line of thoughtLines(part.text, isOpen, surface)) lines.push(line);
    else if (part.type === "text") {
      const own = foreignLines(part.text, surface);
      if (own.length > 0 && lines.length > 0) lines.push("");
      for (const line of own) lines.push(line);
    } else if (part.type === "image") lines.push(style.dim(pictureWords(part)));
    else lines.push(style.dim(`[file ${oneLine(part.path)}]`));
  }
  if (message.cut !== null) lines.push(...signed(style.yellow("!"), wrap(cutWords(message.cut), width - 2)));
  return lines;
}

/** "[picture image/png 12 KB]" */
function pictureWords({ media_type: type, bytes: count }: Extract<Part, { type: "image" }>): string {
  return `[picture ${oneLine(type)} ${bytes(count)}]`;
}

/** Renders what the person wrote: each line has its sign. */
export function personLines(text: string, { style, width }: Surface): string[] {
  return manyLines(text.trim())
    .flatMap((line) => wrap(line, width - 2))
    .map((line) => `${style.cyan("›")} ${line}`);
}

/** Renders what a model wrote: the bar at the left keeps each of its lines from passing for one of Lares. */
export function foreignLines(text: string, surface: Surface): string[] {
  const bar = surface.style.dim("┆");
  return renderMarkdown(text, { ...surface, width: surface.width - 2 }).map((line) =>
    line === "" ? bar : `${bar} ${line}`,
  );
}

function thoughtLines(text: string, isOpen: boolean, { style, width }: Surface): string[] {
  const whole = manyLines(text.trim());
  if (whole.join("").trim() === "") return [];
  if (!isOpen) return [style.dim(truncate(`▸ Thought: ${oneLine(text)}`, width))];
  return [
    style.dim("▾ Thought:"),
    ...whole.flatMap((line) => wrap(line, width - 2)).map((line) => style.dim(`┆ ${line}`)),
  ];
}

function callLines({ asked, result }: Call, isOpen: boolean, surface: Surface): string[] {
  if (asked === null) return [];
  const { style, width } = surface;
  const value = result?.value ?? null;
  const [sign, words] = resultWords(value, surface);
  const room = width - 2 - displayWidth(words) - (words === "" ? 0 : 2);
  const head = truncate(
    `${oneLine(asked.tool)} ${argumentWords(asked.arguments)}`.trimEnd(),
    Math.max(8, room),
  );
  const first = `${style.dim(isOpen ? "▾" : "▸")} ${head}${words === "" ? "" : `  ${sign(words)}`}`;
  if (!isOpen) return [first];
  const error = value?.status === "error" ? signedText(style.red("✗"), value.message, surface) : [];
  return [
    first,
    ...jsonLines("Called with", asked.arguments, surface),
    ...(value?.status === "success" ? jsonLines("Answer", value.value, surface) : error),
  ];
}

function resultWords(
  value: ToolResult | null,
  { style, width }: Surface,
): [(text: string) => string, string] {
  switch (value?.status) {
    case undefined:
      return [style.dim, "…"];
    case "success":
      return [style.green, "✓"];
    case "needs_approval":
      return [style.yellow, "proposed"];
    case "error":
      if (value.question !== undefined) return [style.yellow, "waits for you"];
      return [style.red, truncate(`✗ ${oneLine(value.message)}`, Math.max(1, Math.floor(width / 2)))];
  }
}

/** The first texts among the arguments say most about a call. */
function argumentWords(args: unknown): string {
  if (typeof args !== "object" || args === null)
    return args === undefined ? "" : oneLine(JSON.stringify(args));
  const values = Object.values(args as Record<string, unknown>);
  const texts = values.filter((value) => typeof value === "string" || typeof value === "number");
  return oneLine(texts.slice(0, 2).join("  ").slice(0, 200));
}

function jsonLines(name: string, value: unknown, { style, width }: Surface): string[] {
  const text = typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "null");
  // Texts in JSON are easier to read with their own lines.
  const lines = manyLines(text.replaceAll("\\n", "\n")).flatMap((line) => hardWrap(line, width - 4));
  const left = lines.length - maxOpenLines;
  return [
    style.dim(`  ${name}:`),
    ...lines.slice(0, maxOpenLines).map((line) => `  ${style.dim("┆")} ${line}`),
    ...(left > 0 ? [style.dim(`  … and ${left} more lines, in the log`)] : []),
  ];
}

function askLines(
  state: ChatState,
  { key: of, ask }: ShownItem & { kind: "ask" },
  isOpen: boolean,
  surface: Surface,
): string[] {
  const here = hereOf(state);
  const opens = (shownArguments(ask, maxClosedArguments)?.left ?? 0) > 0;
  const hint = opens ? [["Enter", isOpen ? "close" : "show more"] as const] : [];
  return [
    ...renderAsk(ask, surface, { here, most: isOpen ? maxOpenArguments : maxClosedArguments }),
    ...(state.busy.has(of)
      ? [surface.style.dim("  Answering…")]
      : keys(
          state,
          of,
          [...answersTo(ask).map(({ key, words }) => [key, words] as const), ...hint],
          surface,
        )),
  ];
}

function actionLines(state: ChatState, item: ShownItem & { kind: "action" }, surface: Surface): string[] {
  const { style, width } = surface;
  const whole = state.actions.get(item.action);
  if (whole === undefined) return [style.dim("A change is being read…")];
  const now = stateOfAction(state, item);
  const { action, unread } = whole;
  if (now !== "PendingApproval") {
    const lines = renderActionLine({ ...action, state: now }, surface, noteOf(action));
    const opened = state.open.has(item.key) ? cardLines(state, item.action, surface) : [];
    const isFree = !state.busy.has(item.action);
    const undo =
      isFree && state.focus === item.key && now === "Committed"
        ? keys(state, item.key, [["u", "undo"]], surface)
        : [];
    // Said without the focus too: otherwise a change that another one overtook looks lost.
    const rebase =
      !isFree || now !== "Stale" || action.rebasable !== true
        ? []
        : state.focus === item.key
          ? keys(state, item.key, [["f", "rebase on the new text"]], surface)
          : wrap("It may still fit: at this line, f rebases it on the new text.", width).map(style.dim);
    return [...lines, ...opened, ...undo, ...rebase];
  }
  const isWhole = isCardWhole(state, item.action, surface);
  return [
    ...(isWhole
      ? cardLines(state, item.action, surface)
      : renderAction(action, surface, { contents: "none", unread, here: hereOf(state) })),
    ...(state.busy.has(item.action)
      ? [style.dim("Being decided…")]
      : keys(
          state,
          item.key,
          [
            ["a", "approve"],
            ["r", "reject"],
            ...((action.scopes?.length ?? 0) > 0 ? [["s", "always…"] as const] : []),
            ...(state.open.has(item.key)
              ? [["Enter", "close"] as const]
              : isWhole
                ? []
                : [["Enter", "show"] as const]),
          ],
          { ...surface, width },
        )),
  ];
}

/** The person was not asked here, so this line says why the change was made. */
function noteOf({ decided_by: by, state, error }: Action): string | undefined {
  return by === "policy" && state === "Committed" && error === undefined
    ? "decided automatically"
    : undefined;
}

/** Returns the card of an action with all of its contents; empty while it is being read. */
export function cardLines(state: ChatState, id: string, surface: Surface): string[] {
  const whole = state.actions.get(id);
  if (whole === undefined) return [];
  const here = hereOf(state);
  return cached(whole, [surface.style, surface.width, here.conversation, here.ownDocument], () =>
    renderAction(whole.action, surface, { unread: whole.unread, here }),
  );
}

function hereOf({ conversation, ownDocument }: ChatState): Here {
  return { conversation: conversation.id, ownDocument };
}

/** True if the card is shown with all of its contents. */
export function isCardWhole(state: ChatState, id: string, surface: Surface): boolean {
  return state.open.has(id) || cardLines(state, id, surface).length <= maxClosedCard;
}

/** The keys of an item, where it has them, or else how it gets them. */
function keys(
  { focus }: ChatState,
  key: string,
  list: readonly (readonly [key: string, words: string])[],
  { style, width }: Surface,
): string[] {
  if (focus !== key)
    return joinPieces(
      [`${style.bold("Tab")} comes here, then`, ...list.map(([name, words]) => `${name} ${words}`)],
      "  ",
      width,
    ).map((line) => style.dim(line));
  return joinPieces(
    list.map(([name, words]) => `${style.bold(name)} ${words}`),
    "  ",
    width,
  );
}

/** Renders a branch or worker; `isOpen`: with its task, what it did, and all that it found. */
export function processLines(
  state: ChatState,
  process: Process,
  isOpen: boolean,
  surface: Surface,
): string[] {
  const { style, width } = surface;
  const conclusion = conclusionOf(state.transcript, process.id);
  const first = processLine(process, state, surface, isOpen);
  const [found = ""] =
    conclusion === null
      ? []
      : cached(process, [conclusion], () => renderMarkdown(conclusion, { style: noStyle, width: 500 }));
  if (!isOpen) return [first, ...(found === "" ? [] : [style.dim(truncate(`    ${found}`, width))])];
  const inner = { ...surface, width: Math.max(12, width - 2) };
  const own = chained(
    itemsOf(state.transcript, process.id)
      .filter(({ kind }) => kind !== "process" && kind !== "action")
      .map((each) => itemLines(state, each, inner)),
  );
  return [
    first,
    ...(process.task === undefined
      ? []
      : wrap(oneLine(process.task), width - 2).map((line) => style.dim(`  ${line}`))),
    ...indented(own.slice(own.length - maxOpenLines, own.length)),
    ...(conclusion === null ? [] : foreignLines(conclusion, surface)),
  ];
}

/** The mark where a turn ended without its answer, which stays there. */
function endLines({ state, error }: Process, unread: number, surface: Surface): string[] {
  const { style, width } = surface;
  const first =
    state === "Failed"
      ? signedText(style.red("✗"), error?.message ?? "It failed.", surface)
      : state === "WaitingForInput"
        ? signedText(style.yellow("!"), silentHere, surface)
        : signedText(style.dim("•"), [stoppedHere, error?.message ?? ""].join(" ").trim(), surface);
  const left = state === "Failed" ? keptForRetry : leftUnread(unread);
  const more = left === "" ? [] : wrap(left, width - 2);
  return [...first, ...more.map((line) => style.dim(`  ${line}`))];
}

function signedText(sign: string, text: string, { width }: Surface): string[] {
  return signed(sign, wrap(oneLine(text), width - 2));
}

function signed(sign: string, lines: readonly string[]): string[] {
  return lines.map((line, row) => `${row === 0 ? sign : " "} ${line}`);
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => (line === "" ? "" : `  ${line}`));
}

const rendered = new WeakMap<object, { readonly key: readonly unknown[]; readonly lines: string[] }>();

/** Few items change between two frames, so the last lines of each are kept. */
function cached(of: object, key: readonly unknown[], make: () => string[]): string[] {
  const known = rendered.get(of);
  if (known !== undefined && known.key.every((value, index) => value === key[index])) return known.lines;
  const lines = make();
  rendered.set(of, { key, lines });
  return lines;
}
