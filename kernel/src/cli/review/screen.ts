import { writeSync } from "node:fs";
import type { Cell, Frame } from "./render/screen.ts";
import type { Size } from "./state/state.ts";

const enter =
  "\u001b[?1049h" + // the alternate screen, so that the contents of the main one come back afterwards
  "\u001b[?7l" + // the terminal cuts lines that are too long instead of wrapping them
  "\u001b[?2004h" + // pastes are marked
  "\u001b[?25l" + // no cursor
  "\u001b[2J";
const leave = "\u001b[?25h\u001b[?2004l\u001b[?7h\u001b[0m\u001b[?1049l";

/** For terminals that do not report their size. */
const unknownSize: Size = { columns: 80, rows: 24 };

/**
 * The whole screen of a terminal. Restored when this is disposed, and in any case before the process exits, even after
 * an uncaught error.
 */
export class Screen implements Disposable {
  readonly #input: NodeJS.ReadStream;
  readonly #output: NodeJS.WriteStream & { readonly fd: number };
  readonly #onExit = (): void => this.leave();
  #isEntered = false;
  #drawn: string[] = [];
  #cursor = "\u001b[?25l";

  constructor(input: NodeJS.ReadStream, output: NodeJS.WriteStream & { readonly fd: number }) {
    this.#input = input;
    this.#output = output;
    process.on("exit", this.#onExit);
  }

  get size(): Size {
    const { columns, rows } = this.#output;
    return { columns: columns || unknownSize.columns, rows: rows || unknownSize.rows };
  }

  enter(): void {
    if (this.#isEntered) return;
    this.#isEntered = true;
    this.#input.setRawMode(true);
    this.#input.resume();
    this.#drawn = [];
    this.#cursor = "\u001b[?25l";
    this.#output.write(enter);
  }

  /** Restores the terminal. */
  leave(): void {
    if (!this.#isEntered) return;
    this.#isEntered = false;
    // Written synchronously, because a process that exits drops pending writes.
    try {
      writeSync(this.#output.fd, leave);
    } catch {
      // The terminal is gone, so there is nothing to restore.
    }
    try {
      this.#input.setRawMode(false);
    } catch {
      // The terminal is gone here, too.
    }
    this.#input.pause();
  }

  /** Draws the lines that differ from the last frame. `cursor`: where the text cursor is shown; without it, nowhere. */
  draw(frame: Frame, cursor: { readonly row: number; readonly column: number } | null = null): void {
    if (!this.#isEntered) return;
    let text = "";
    frame.forEach((cells, row) => {
      const line = drawnLine(cells, row);
      if (this.#drawn[row] === line) return;
      this.#drawn[row] = line;
      text += line;
    });
    const place =
      cursor === null ? "\u001b[?25l" : `\u001b[${cursor.row + 1};${cursor.column + 1}H\u001b[?25h`;
    if (text === "" && place === this.#cursor) return;
    // The cursor is hidden while lines are drawn; a screen without one stays as it was.
    text = cursor === null && this.#cursor === place ? text : `\u001b[?25l${text}${place}`;
    this.#cursor = place;
    // As one synchronized update, if the terminal supports it, so that it shows no half-drawn frame.
    if (text !== "") this.#output.write(`\u001b[?2026h${text}\u001b[?2026l`);
  }

  /** Makes the next frame be drawn in full. */
  clear(): void {
    this.#drawn = [];
    if (this.#isEntered) this.#output.write("\u001b[2J");
  }

  [Symbol.dispose](): void {
    this.leave();
    process.off("exit", this.#onExit);
  }
}

/** Every cell is drawn at its own column, so that a character that the terminal draws wider moves nothing else. */
function drawnLine(cells: readonly Cell[], row: number): string {
  const clear = `\u001b[${row + 1};1H\u001b[2K`;
  return clear + cells.map(({ column, text }) => `\u001b[${row + 1};${column + 1}H${text}`).join("");
}
