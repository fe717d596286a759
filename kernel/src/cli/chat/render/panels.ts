import type { Conversation } from "../../../base/vocabulary/conversation.ts";
import type { ConversationContext } from "../../../base/vocabulary/conversation-requests.ts";
import { factsOf, titleOf } from "../state/choices.ts";
import { allCommands, type OfferedWord } from "../state/slash.ts";
import { offeredIn, type ChatState } from "../state/state.ts";
import { manyLines, oneLine } from "../../render/foreign.ts";
import type { Surface } from "../../render/style.ts";
import { renderTable } from "../../render/table.ts";
import { displayWidth, padEnd, truncate, wrap } from "../../render/width.ts";
import { knownPanelLines } from "./known.ts";
import { workerPanelLines } from "./workers.ts";

interface PanelText {
  readonly lines: readonly string[];
  readonly top: number;
  /** The lines of each row that a key opens; `end` is behind the last one. */
  readonly ranges?: ReadonlyMap<string, { readonly start: number; readonly end: number }>;
}

/** The lines of a section that are shown. */
const maxSectionLines = 200;

/** Returns what covers the transcript; null if nothing does. */
export function panelLines(state: ChatState, surface: Surface): PanelText | null {
  const { panel } = state;
  switch (panel?.kind) {
    case "help":
      return { lines: helpLines(surface, offeredIn(state)), top: panel.top };
    case "workers":
      return { ...workerPanelLines(state, panel, surface), top: panel.top };
    case "context":
      return { lines: contextLines(state.conversation, panel.context, surface), top: panel.top };
    case "known":
      return knownPanelLines(panel, surface);
    case "choose":
      return chooseLines(panel, surface);
    case "reason":
    case "scopes":
    case "redact":
    case undefined:
      return null;
  }
}

const keyList: readonly (readonly [keys: string, words: string])[] = [
  ["Enter", "send; also while an answer comes"],
  ["Alt-Enter, Ctrl-J", "a new line; so does a backslash at the end of a line"],
  ["↑ ↓", "what you sent before"],
  ["@ and a name", "name a file, a folder or a change that waits; Tab takes it"],
  ["Tab", "go to what waits for you, or to the last call: then ↑ ↓ Enter"],
  ["a r s", "at a change or a question: approve or allow it, reject or deny it, always"],
  ["u", "at a change that was made: undo it"],
  ["f", "at a change that is out of date: rebase it on the new text"],
  ["Ctrl-O", "open and close the last call, thought or process"],
  ["PgUp PgDn", "scroll"],
  ["Esc, Ctrl-C", "stop what runs"],
  ["Ctrl-C twice, Ctrl-D", "leave; lares chat --resume continues"],
];

/** With fewer columns, what a key does stands beneath it. */
const widthForTwoColumns = 64;

/** Returns the commands of a conversation, with what they do. */
export function commandHelp(surface: Surface, offered: readonly OfferedWord[] = []): string[] {
  const commands = allCommands(offered).map(
    ({ name, rest, about }) => [oneLine(`/${name}${rest === "" ? "" : ` ${rest}`}`), oneLine(about)] as const,
  );
  return [surface.style.bold("Commands"), ...explained(commands, surface)];
}

function helpLines(surface: Surface, offered: readonly OfferedWord[]): string[] {
  return [...commandHelp(surface, offered), "", surface.style.bold("Keys"), ...explained(keyList, surface)];
}

/** Returns names with what they mean, which is wrapped and never cut. */
function explained(
  list: readonly (readonly [name: string, words: string])[],
  { style, width }: Surface,
): string[] {
  const widest = Math.max(...list.map(([name]) => displayWidth(name)));
  return list.flatMap(([name, words]) => {
    if (width < widthForTwoColumns)
      return [name, ...wrap(words, width - 2).map((line) => style.dim(`  ${line}`))];
    return wrap(words, width - widest - 3).map(
      (line, row) => `${padEnd(row === 0 ? name : "", widest)}   ${line}`,
    );
  });
}

/** Returns what the model of a conversation would see, by section. */
export function contextLines(
  { tainted }: Pick<Conversation, "tainted">,
  { sections, model, tokens, limit }: ConversationContext,
  surface: Surface,
): string[] {
  const { style, width } = surface;
  const number = (count: number): string => count.toLocaleString("en");
  const share = limit === 0 ? "" : ` of ${number(limit)}`;
  const estimated = sections.reduce((sum, section) => sum + section.tokens, 0);
  return [
    ...wrap(
      `What ${model === "" ? "the model" : oneLine(model)} sees: ${number(tokens)}${share} tokens`,
      width,
    ).map((line) => style.bold(line)),
    ...(estimated === tokens
      ? []
      : wrap(`The provider's count. The rows are estimates, ${number(estimated)} in all.`, width).map(
          (line) => style.dim(line),
        )),
    ...(tainted.length === 0
      ? []
      : wrap(
          `It follows text from ${tainted.map(oneLine).join(", ")}, so no change is approved automatically.`,
          width,
        ).map((line) => style.yellow(line))),
    "",
    ...renderTable(
      [{ title: "Section" }, { title: "About tokens", align: "right" }, { title: "" }],
      sections.map(({ name, tokens: estimate, cached }) => [
        oneLine(name),
        number(estimate),
        cached === true ? "sent before" : "",
      ]),
      surface,
    ),
    ...sections.flatMap(({ name, text }) => {
      const lines = manyLines(text).flatMap((line) => wrap(line, width - 2));
      const left = lines.length - maxSectionLines;
      if (text.trim() === "") return [];
      return [
        "",
        style.bold(oneLine(name)),
        ...lines.slice(0, maxSectionLines).map((line) => `${style.dim("┆")} ${line}`),
        ...(left > 0 ? [style.dim(`… and ${left} more lines`)] : []),
      ];
    }),
  ];
}

function chooseLines(
  { items, selected }: Extract<ChatState["panel"], { kind: "choose" }>,
  { style, width }: Surface,
): PanelText {
  const lines = items.flatMap((choice, index) => {
    const isChosen = index === selected;
    const name = truncate(titleOf(choice.conversation), width - 2);
    const facts = `${factsOf(choice)}  ${oneLine(choice.conversation.id).slice(-8)}`;
    return [
      `${isChosen ? style.cyan("▌") : " "} ${isChosen ? style.bold(name) : name}`,
      style.dim(truncate(`  ${facts}`, width)),
    ];
  });
  return { lines, top: Math.max(0, selected * 2 - 6) };
}
