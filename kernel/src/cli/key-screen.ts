import { emitKeypressEvents } from "node:readline";
import { nextTurn } from "../base/next-turn.ts";
import { onlyAscii } from "./render/screen-style.ts";
import type { Terminal } from "./terminal.ts";

/** A key as Node reports it: `name` for keys with a name, `text` for the character that it types. */
export interface Key {
  readonly name: string;
  readonly text: string;
  readonly shift: boolean;
}

/** The contents of the terminal: lines that scroll, and lines that stay at the bottom. */
export interface KeyFrame {
  readonly lines: readonly string[];
  readonly foot: readonly string[];
  /** The index of the line that must be visible. */
  readonly focus: number;
}

export interface KeyScreen<Result> {
  frame(rows: number): KeyFrame;
  /** Called after each drawing with the indices of the first and the last visible line. */
  shown(firstLine: number, lastLine: number): void;
  /** Resolves with the result when the screen is done, otherwise with null; the frame is drawn again afterwards. */
  key(key: Key): Promise<{ readonly result: Result } | null>;
}

const turnsOfTypedAhead = 4;
const enter = "\u001b[?1049h\u001b[?25l";
const leave = "\u001b[?25h\u001b[?1049l";

/** True if the terminal can be drawn on and reports single keys. */
export function hasKeyScreen(terminal: Terminal): boolean {
  return terminal.canDraw;
}

/** Takes over the whole terminal until the screen is done. Returns null if the person ended the program meanwhile. */
export async function onKeyScreen<Result>(
  terminal: Terminal,
  screen: KeyScreen<Result>,
): Promise<Result | null> {
  using _held = terminal.hold();
  const { stdin, stdout } = process;
  let top = 0;
  const draw = (): void => {
    const rows = stdout.rows || 24;
    const { lines, foot, focus } = screen.frame(rows);
    const room = Math.max(1, rows - foot.length - 1);
    if (focus < top) top = focus;
    // Keeps some of the following lines visible, too.
    if (focus >= top + room - 1) top = focus - room + 2;
    top = Math.max(0, Math.min(top, lines.length - room));
    const shown = lines.slice(top, top + room);
    const left = lines.length - top - shown.length;
    const rule = left > 0 ? `── ${left} more lines below` : "──";
    const all = [...shown, ...Array<string>(room - shown.length).fill(""), rule, ...foot];
    const text = `\u001b[H${all.map((line) => `${line}\u001b[K`).join("\n")}\u001b[J`;
    stdout.write(terminal.surface.isAscii === true ? onlyAscii(text) : text);
    screen.shown(top, top + shown.length - 1);
  };
  emitKeypressEvents(stdin);
  const wasRaw = stdin.isRaw;
  stdin.setRawMode(true);
  stdin.resume();
  stdout.write(enter);
  const done = Promise.withResolvers<Result | null>();
  let turn: Promise<void> = Promise.resolve();
  const pressed = (
    text: string | undefined,
    key: { name?: string; ctrl?: boolean; shift?: boolean },
  ): void => {
    if (key.ctrl === true && key.name === "c") {
      terminal.interrupt();
      return;
    }
    // It was typed for what was there before.
    if (!isShown) return;
    turn = turn.then(async () => {
      const end = await screen.key({ name: key.name ?? "", text: text ?? "", shift: key.shift === true });
      if (end === null) draw();
      else done.resolve(end.result);
    });
    turn.catch(done.reject);
  };
  const interrupted = (): void => done.resolve(null);
  let isShown = false;
  stdin.on("keypress", pressed);
  terminal.interrupted.addEventListener("abort", interrupted);
  try {
    if (terminal.interrupted.aborted) return null;
    // Input that the terminal already holds arrives in the next turns of the event loop.
    for (let turns = 0; turns < turnsOfTypedAhead; turns++) await nextTurn();
    // From here on every key counts, because it may be an answer to what is on the screen.
    stdout.on("resize", draw);
    draw();
    isShown = true;
    return await done.promise;
  } finally {
    stdin.off("keypress", pressed);
    stdout.off("resize", draw);
    terminal.interrupted.removeEventListener("abort", interrupted);
    stdout.write(leave);
    stdin.setRawMode(wasRaw);
    stdin.pause();
  }
}
