import { isAtWork, waitingItems, type ChatState } from "../state/state.ts";
import { oneLine } from "../../render/foreign.ts";
import type { Cell, Frame } from "../../review/render/screen.ts";
import { inAscii } from "../../render/screen-style.ts";
import { displayWidth, truncate } from "../../render/width.ts";
import { layoutOf } from "./layout.ts";

const fewestColumns = 20;
const fewestRows = 8;
/** Columns of the name and the title, beside what waits. */
const fewestOfName = 4;

interface ChatFrame {
  readonly frame: Frame;
  /** Where the text cursor is; null if it is hidden. */
  readonly cursor: { readonly row: number; readonly column: number } | null;
}

/** Renders the whole screen, in exactly as many lines as it has. */
export function renderChat(state: ChatState): ChatFrame {
  const { columns, rows } = state.size;
  if (columns < fewestColumns || rows < fewestRows)
    return { frame: filled([truncate("Too small", columns)], rows), cursor: null };
  const layout = layoutOf(state);
  const { body, bodyRows, top, foot } = layout;
  const visible = body.slice(top, top + bodyRows);
  const below = body.length - top - visible.length;
  const [rule = "", ...rest] = foot.lines;
  const { style, isAscii } = state.screenStyle;
  const where = below > 0 ? `─ ↓ ${below} more ` : "";
  const lines = [
    headLine(state, columns - 1),
    style.dim("─".repeat(columns - 1)),
    ...visible,
    ...Array.from({ length: bodyRows - visible.length }, () => ""),
    below > 0 ? style.dim(where + "─".repeat(Math.max(0, columns - 1 - displayWidth(where)))) : rule,
    ...rest,
  ];
  // The foot may be higher than a low screen.
  const cut = Math.max(0, lines.length - rows);
  const shown = cut === 0 ? lines : lines.slice(cut);
  const cursorRow = foot.cursor === null ? 0 : 2 + bodyRows + foot.cursor.row - cut;
  return {
    frame: filled(isAscii ? shown.map(inAscii) : shown, rows),
    cursor: foot.cursor === null ? null : { row: cursorRow, column: foot.cursor.column },
  };
}

function filled(lines: readonly string[], rows: number): Frame {
  return Array.from({ length: rows }, (_none, row): Cell[] => {
    const text = lines[row];
    return text === undefined || text === "" ? [] : [{ column: 0, text }];
  });
}

/** "Steward · Sort the trip photos" and what waits. */
function headLine(state: ChatState, width: number): string {
  const { style } = state.screenStyle;
  const { agentName, conversation } = state;
  const waits = waitingItems(state).length;
  const count = `${waits} ${waits === 1 ? "waits" : "wait"}`;
  const whole = `${count} for you`;
  const hasRoom = width >= displayWidth(whole) + fewestOfName + 2;
  const right = waits > 0 ? (hasRoom ? whole : count) : isAtWork(state) ? "working" : "";
  const room = Math.max(fewestOfName, width - displayWidth(right) - 2);
  const name = truncate(
    oneLine(agentName) + (conversation.title === "" ? "" : ` · ${oneLine(conversation.title)}`),
    room,
  );
  const gap = " ".repeat(Math.max(2, width - displayWidth(name) - displayWidth(right)));
  const painted = waits > 0 ? style.bold(style.yellow(right)) : style.dim(right);
  return `${style.bold(name)}${right === "" ? "" : gap + painted}`;
}
