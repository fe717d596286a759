import { writeSync } from "node:fs";
import type { Cell, Frame } from "../render/review/screen.ts";
import type { Size } from "./state.ts";

const enter =
  "\u001b[?1049h" + // the other screen, so that what was on this one comes back
  "\u001b[?7l" + // a line that is too long is cut by the terminal, not wrapped over the next
  "\u001b[?2004h" + // pastes are marked as such
  "\u001b[?25l" + // no cursor
  "\u001b[2J";
const leave = "\u001b[?25h\u001b[?2004l\u001b[?7h\u001b[0m\u001b[?1049l";

/** Terminals that say nothing have these. */
const unknownSize: Size = { columns: 80, rows: 24 };

/**
 * The whole screen of a terminal. It is given back when this is disposed, and in any case before the process exits, also
 * by an error that nobody caught.
 */
export class Screen implements Disposable {
  readonly #input: NodeJS.ReadStream;
  readonly #output: NodeJS.WriteStream & { readonly fd: number };
  readonly #onExit = (): void => this.leave();
  #isEntered = false;
  #drawn: string[] = [];

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
    this.#output.write(enter);
  }

  /** Gives the terminal back as it was. */
  leave(): void {
    if (!this.#isEntered) return;
    this.#isEntered = false;
    // Written at once, as nothing that waits is written any more when a process exits.
    try {
      writeSync(this.#output.fd, leave);
    } catch {
      // The terminal is gone, and with it what was to be restored.
    }
    try {
      this.#input.setRawMode(false);
    } catch {
      // The same.
    }
    this.#input.pause();
  }

  /** Draws the lines that differ from what is drawn. */
  draw(frame: Frame): void {
    if (!this.#isEntered) return;
    let text = "";
    frame.forEach((cells, row) => {
      const line = drawnLine(cells, row);
      if (this.#drawn[row] === line) return;
      this.#drawn[row] = line;
      text += line;
    });
    // In one piece, where the terminal can: it shows nothing half drawn.
    if (text !== "") this.#output.write(`\u001b[?2026h${text}\u001b[?2026l`);
  }

  /** The next frame is drawn whole. */
  clear(): void {
    this.#drawn = [];
    if (this.#isEntered) this.#output.write("\u001b[2J");
  }

  [Symbol.dispose](): void {
    this.leave();
    process.off("exit", this.#onExit);
  }
}

/** Every cell is put at its own column, so that a character that the terminal takes to be wider moves nothing else. */
function drawnLine(cells: readonly Cell[], row: number): string {
  const clear = `\u001b[${row + 1};1H\u001b[2K`;
  return clear + cells.map(({ column, text }) => `\u001b[${row + 1};${column + 1}H${text}`).join("");
}
