import { createInterface } from "node:readline/promises";
import { oneLine } from "./render/foreign.ts";
import { styleFor, type Surface } from "./render/style.ts";
import { TypeAhead, type TypedInput } from "./keyboard/type-ahead.ts";

/** Columns if the output has none: a log, a pipe. Lines are cut there, so it is generous. */
const widthWithoutTerminal = 160;
const widestUseful = 160;
/** While a person is asked, at most this much output is held back, the newest. */
const maxHeldPrints = 2000;
const framesMs = 80;
const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/** The output of the commands. Standard output carries results; standard error, messages about the work itself. */
export class Terminal implements Disposable {
  readonly #output = process.stdout;
  readonly #errors = process.stderr;
  readonly #interrupt = new AbortController();
  readonly #onSignal: (signal: NodeJS.Signals) => void;
  #status: string | null = null;
  #spinner: NodeJS.Timeout | null = null;
  #frame = 0;
  #held: { readonly stream: NodeJS.WriteStream; readonly text: string }[] | null = null;
  #droppedPrints = 0;
  #isLent = false;
  #typing: TypeAhead | null = null;
  #typed = "";

  constructor() {
    this.#onSignal = (signal) => {
      // The signal is meant for the program that has the terminal.
      if (this.#isLent && signal === "SIGINT") return;
      // A second signal exits at once, without cleaning up.
      if (this.#interrupt.signal.aborted) process.exit(signal === "SIGINT" ? 130 : 143);
      this.#interrupt.abort(signal);
    };
    process.on("SIGINT", this.#onSignal);
    process.on("SIGTERM", this.#onSignal);
    // A reader that has left (`lares traces | head`) is not an error.
    this.#output.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") process.exit(0);
      throw error;
    });
  }

  /** Aborted by Ctrl-C or a termination signal. */
  get interrupted(): AbortSignal {
    return this.#interrupt.signal;
  }

  /** While another program has the terminal, Ctrl-C belongs to that program. */
  async lend<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#isLent = true;
    try {
      return await work();
    } finally {
      this.#isLent = false;
    }
  }

  interrupt(): void {
    this.#interrupt.abort("SIGINT");
  }

  /**
   * Keeps what is typed from now on until `takeTyped`, and shows it on the bottom line. Questions in between get nothing
   * of it. Needs a person at a terminal.
   */
  keepTyped(): void {
    this.#typing ??= new TypeAhead({
      input: process.stdin,
      interrupted: () => this.#onSignal("SIGINT"),
      typed: (text) => {
        this.#typed = oneLine(text);
        this.status(this.#status ?? "starting");
      },
    });
  }

  /** Returns what was typed meanwhile, and leaves the terminal to a reader of keys. */
  takeTyped(): readonly TypedInput[] {
    const typed = this.#typing?.take() ?? [];
    this.#typing = null;
    this.#typed = "";
    this.status(null);
    return typed;
  }

  /** A person is there to be asked. */
  get isInteractive(): boolean {
    return process.stdin.isTTY && this.#output.isTTY;
  }

  /** The output is a terminal, which interprets control codes. */
  get isTerminal(): boolean {
    return this.#output.isTTY;
  }

  /** Standard error is a terminal. */
  get isErrorTerminal(): boolean {
    return this.#errors.isTTY;
  }

  get surface(): Surface {
    const width = this.#output.isTTY
      ? Math.min(this.#output.columns || 80, widestUseful)
      : widthWithoutTerminal;
    return { style: styleFor(coloursWanted(this.#output)), width };
  }

  get errorSurface(): Surface {
    return { style: styleFor(coloursWanted(this.#errors)), width: this.#errors.columns || 100 };
  }

  print(lines: readonly string[] | string): void {
    this.#write(this.#output, lines);
  }

  /** Writes a piece of a text to standard output, which may end in the middle of a line. */
  write(text: string): void {
    this.#clearStatus();
    this.#output.write(text);
  }

  /** To standard error. */
  warn(lines: readonly string[] | string): void {
    this.#write(this.#errors, lines);
  }

  /** Writes bytes unchanged to standard output; resolves when there is room for more. */
  bytes(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) =>
      this.#output.write(bytes, (error) => (error ? reject(error) : resolve())),
    );
  }

  json(value: unknown): void {
    this.print(jsonText(value));
  }

  /** Holds back output until released, so that nothing moves while a person is asked. */
  hold(): Disposable {
    this.#clearStatus();
    this.#held ??= [];
    this.#typing?.pause();
    return {
      [Symbol.dispose]: () => {
        this.#typing?.resume();
        const held = this.#held ?? [];
        this.#held = null;
        if (this.#droppedPrints > 0)
          this.#errors.write(`… ${this.#droppedPrints} earlier lines; see lares traces\n`);
        this.#droppedPrints = 0;
        for (const { stream, text } of held) stream.write(text);
        // The status line returns with its next frame, because the prompt may still be writing its last line.
      },
    };
  }

  /** Shows the current work on the bottom line, on a terminal only; null removes it. */
  status(wanted: string | null): void {
    // Typed text stays visible.
    const text = wanted === null ? (this.#typed === "" ? null : "starting") : oneLine(wanted);
    if (!this.#errors.isTTY) return;
    if (text === this.#status && this.#typed === "") return;
    this.#clearStatus();
    this.#status = text;
    if (text === null) {
      if (this.#spinner !== null) clearInterval(this.#spinner);
      this.#spinner = null;
      return;
    }
    this.#spinner ??= setInterval(() => {
      this.#frame += 1;
      this.#clearStatus();
      this.#drawStatus();
    }, framesMs).unref();
    this.#drawStatus();
  }

  /** Shows `text` if the work takes longer than a second. */
  async progress<Result>(text: string, work: Promise<Result>): Promise<Result> {
    const timer = setTimeout(() => this.status(text), 1000);
    try {
      return await work;
    } finally {
      clearTimeout(timer);
      this.status(null);
    }
  }

  /** Asks for yes or no; no answer means no. */
  async confirm(question: string): Promise<boolean> {
    using _held = this.hold();
    // A screen that reads keys later keeps this time: an Escape is one when nothing follows within it.
    const lines = createInterface({ input: process.stdin, output: this.#output, escapeCodeTimeout: 50 });
    try {
      const answer = await lines.question(`${question} [y/N] `, { signal: this.interrupted });
      return /^\s*(y|yes)\s*$/i.test(answer);
    } catch (error) {
      if (error instanceof Error && error.name === "AbortError") {
        this.interrupt();
        return false;
      }
      throw error;
    } finally {
      lines.close();
    }
  }

  #write(stream: NodeJS.WriteStream, lines: readonly string[] | string): void {
    if (lines.length === 0 && typeof lines !== "string") return;
    const text = `${typeof lines === "string" ? lines : lines.join("\n")}\n`;
    if (this.#held !== null) {
      this.#held.push({ stream, text });
      if (this.#held.length > maxHeldPrints) {
        this.#held.shift();
        this.#droppedPrints += 1;
      }
      return;
    }
    this.#clearStatus();
    stream.write(text);
    this.#drawStatus();
  }

  #clearStatus(): void {
    // While a person is asked, the bottom line is the question.
    if (this.#status !== null && this.#held === null) this.#errors.write("\r\u001b[2K");
  }

  #drawStatus(): void {
    if (this.#status === null || this.#held !== null) return;
    const { style, width } = this.errorSurface;
    const frame = frames[this.#frame % frames.length] ?? "";
    const work = this.#typed === "" ? this.#status : `${this.#status} › ${this.#typed}`;
    this.#errors.write(`${style.cyan(frame)} ${style.dim(work.slice(0, width - 3))}`);
  }

  [Symbol.dispose](): void {
    this.#typing?.[Symbol.dispose]();
    this.#typing = null;
    this.#typed = "";
    this.status(null);
    process.off("SIGINT", this.#onSignal);
    process.off("SIGTERM", this.#onSignal);
  }
}

/** For a program. A person may see it too, so control codes and invisible characters are written as `\u….`. */
function jsonText(value: unknown): string {
  return JSON.stringify(value).replace(unprintable, escaped);
}

// oxlint-disable-next-line no-control-regex -- JSON itself escapes only those below U+0020
const unprintable =
  /[\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

function escaped(character: string): string {
  let text = "";
  for (let unit = 0; unit < character.length; unit++)
    text += `\\u${character.charCodeAt(unit).toString(16).padStart(4, "0")}`;
  return text;
}

function coloursWanted(stream: NodeJS.WriteStream): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
  if (NO_COLOR !== undefined && NO_COLOR !== "") return false;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== "" && FORCE_COLOR !== "0") return true;
  // Not undefined, for which the library would decide itself and treat CI as a terminal.
  return Boolean(stream.isTTY) && TERM !== "dumb";
}
