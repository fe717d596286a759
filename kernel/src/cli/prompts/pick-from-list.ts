import { hasKeyScreen, onKeyScreen, type Key, type KeyScreen } from "../key-screen.ts";
import { truncate, wrap } from "../render/width.ts";
import type { Terminal } from "../terminal.ts";
import { chooseFrom } from "./prompts.ts";

interface ListQuestion<Value> {
  readonly message: string;
  /** At least one. */
  readonly options: readonly {
    readonly value: Value;
    /** Returns it in one line of this width. */
    label(width: number): string;
  }[];
}

const marginOfLabel = 2;
const keyWords = "↑↓ move  Enter choose  Esc back";

/**
 * Returns the person's choice from a list that may be long; null if they chose none. It has the whole screen, so that it can be
 * drawn again for another size of the terminal.
 */
export async function pickFromList<Value>(
  terminal: Terminal,
  { message, options }: ListQuestion<Value>,
): Promise<Value | null> {
  if (!hasKeyScreen(terminal)) {
    const width = terminal.surface.width - marginOfLabel;
    const labelled = options.map(({ value, label }) => ({ value, label: label(width) }));
    return chooseFrom(terminal, { message, options: labelled });
  }
  return onKeyScreen<Value | null>(terminal, listScreen(terminal, { message, options }));
}

/** A list on the screen: keys move in it, and choose. */
function listScreen<Value>(
  terminal: Pick<Terminal, "surface">,
  { message, options }: ListQuestion<Value>,
): KeyScreen<Value | null> {
  let selected = 0;
  let rowsShown = 1;
  return {
    frame: (rows) => {
      const { style, width } = terminal.surface;
      const head = wrap(message, width).map((line) => style.bold(line));
      rowsShown = Math.max(1, rows - head.length - 3);
      const lines = options.map(({ label }, index) => {
        const text = truncate(label(width - marginOfLabel), width - marginOfLabel);
        return index === selected ? `${style.cyan("›")} ${style.bold(text)}` : `  ${text}`;
      });
      const foot = wrap(keyWords, width).map((line) => style.dim(line));
      return { lines: [...head, "", ...lines], foot, focus: selected === 0 ? 0 : head.length + 1 + selected };
    },
    shown: () => undefined,
    key: ({ name, text }: Key) => {
      const last = options.length - 1;
      if (name === "escape" || text === "q") return Promise.resolve({ result: null });
      const option = options[selected];
      if ((name === "return" || name === "enter") && option !== undefined)
        return Promise.resolve({ result: option.value });
      if (name === "up" || text === "k") selected = Math.max(0, selected - 1);
      else if (name === "down" || text === "j") selected = Math.min(last, selected + 1);
      else if (name === "pageup") selected = Math.max(0, selected - rowsShown);
      else if (name === "pagedown") selected = Math.min(last, selected + rowsShown);
      else if (name === "home") selected = 0;
      else if (name === "end") selected = last;
      return Promise.resolve(null);
    },
  };
}
