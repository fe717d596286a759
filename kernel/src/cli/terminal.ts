import { createInterface } from "node:readline/promises";
import { exitCodes } from "./exit-codes.ts";
import { stopWithReader } from "./lost-output.ts";
import { oneLine } from "./render/foreign.ts";
import { onlyAscii, wantsAscii } from "./render/screen-style.ts";
import { styleFor, type Surface } from "./render/style.ts";
import { wrap } from "./render/width.ts";
import { TypeAhead, type TypedInput } from "./keyboard/type-ahead.ts";

/** Columns if the output has none: a log, a pipe. Lines are cut there, so it is generous. */
const widthWithoutTerminal = 160;
const widestUseful = 160;
/** While a person is asked, at most this much output is held back, the newest. */
const maxHeldPrints = 2000;
/** How much longer than at a terminal a kernel may be silent before a log says so. */
const silentInLogMs = 6_000;
const framesMs = 80;
const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const asciiFrames = ["|", "/", "-", "\\"];

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
  /** Where standard output is a terminal: a text was written that ends in the middle of a line. */
  #isMidLine = false;
  /** That line was broken for a message. */
  #hasBroken = false;
  #typing: TypeAhead | null = null;
  #typed = "";
  /** Says that the kernel does not answer, and with null that it does again. A screen says it in its own place. */
  silence = (text: string | null): void => {
    if (this.#silent !== null) clearTimeout(this.#silent);
    this.#silent = null;
    if (text !== null)
      // Nobody watches a log, and a busy machine would fill it with reports.
      this.#silent = setTimeout(() => this.#saySilent(text), this.#errors.isTTY ? 0 : silentInLogMs).unref();
    else if (this.#saidSilent) {
      this.#saidSilent = false;
      this.warn("The kernel answers again.");
    }
  };
  #silent: NodeJS.Timeout | null = null;
  #saidSilent = false;
  readonly #isAscii = wantsAscii(process.env, process.platform);

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
  }

  /** Aborted by Ctrl-C or a termination signal, or by a reader of the output that left where nothing else is done. */
  get interrupted(): AbortSignal {
    return this.#interrupt.signal;
  }

  /** The exit code of a command that was interrupted. */
  get interruptedCode(): number {
    const { reason } = this.#interrupt.signal as { readonly reason: unknown };
    if (reason === "SIGTERM") return exitCodes.terminated;
    return reason === "SIGPIPE" ? exitCodes.unread : exitCodes.interrupted;
  }

  /** From now on, a reader of the output that leaves stops the work, as Ctrl-C does. */
  interruptWithReader(): void {
    stopWithReader(this.#output, () => this.#interrupt.abort("SIGPIPE"));
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

  /** The terminal can move its cursor, and reports single keys. */
  get canDraw(): boolean {
    return this.isInteractive && canMove(this.#output);
  }

  get surface(): Surface {
    const width = this.#output.isTTY
      ? Math.min(this.#output.columns || 80, widestUseful)
      : widthWithoutTerminal;
    return {
      style: styleFor(coloursWanted(this.#output)),
      width,
      ...(this.#isAscii && this.#output.isTTY ? { isAscii: true } : {}),
    };
  }

  get errorSurface(): Surface {
    return {
      style: styleFor(coloursWanted(this.#errors)),
      width: Math.min(this.#errors.columns || 100, widestUseful),
    };
  }

  print(lines: readonly string[] | string): void {
    this.#write(this.#output, lines);
  }

  /** Writes a piece of a text to standard output, which may end in the middle of a line. */
  write(text: string): void {
    this.#clearStatus();
    // The end of a line that was broken already would be an empty line.
    const left = this.#hasBroken && text.startsWith("\n") ? text.slice(1) : text;
    this.#hasBroken = false;
    this.#output.write(this.#drawable(this.#output, left));
    // Control sequences do not move the cursor, and after a question the person ends the line.
    if (this.#output.isTTY && this.#held === null && text !== "" && !text.startsWith("\u001b]"))
      this.#isMidLine = !text.endsWith("\n");
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
    const text = jsonText(value);
    // Escaped here, where it stays the same JSON.
    this.print(this.#isAscii && this.#output.isTTY ? text.replace(/[^\x00-\x7f]/gu, escaped) : text); // oxlint-disable-line no-control-regex -- the bounds of ASCII
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
    if (!canMove(this.#errors)) return;
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
    const timer = setTimeout(() => {
      // Without a cursor, a line is all that can be said.
      if (this.#errors.isTTY && !canMove(this.#errors)) this.warn(`${text} …`);
      else this.status(text);
    }, 1000);
    try {
      return await work;
    } finally {
      clearTimeout(timer);
      this.status(null);
    }
  }

  /** Asks for yes or no; no answer means no. */
  async confirm(question: string): Promise<boolean> {
    return /^\s*(y|yes)\s*$/i.test(await this.#line(`${question} [y/N] `));
  }

  /** Returns the line that the person writes; empty if they interrupt. */
  async #line(question: string): Promise<string> {
    using _held = this.hold();
    const lines = createInterface({
      input: process.stdin,
      output: this.#output,
      // A screen that reads keys later keeps this time: an Escape is one when nothing follows within it.
      escapeCodeTimeout: 50,
      terminal: canMove(this.#output),
    });
    try {
      return await lines.question(this.#drawable(this.#output, question), { signal: this.interrupted });
    } catch (error) {
      if (error instanceof Error && error.name === "AbortError") {
        this.interrupt();
        return "";
      }
      throw error;
    } finally {
      lines.close();
    }
  }

  #saySilent(text: string): void {
    this.#saidSilent = true;
    this.warn(wrap(text, this.errorSurface.width));
  }

  #write(stream: NodeJS.WriteStream, lines: readonly string[] | string): void {
    if (lines.length === 0 && typeof lines !== "string") return;
    const text = this.#drawable(stream, `${typeof lines === "string" ? lines : lines.join("\n")}\n`);
    if (this.#held !== null) {
      this.#held.push({ stream, text });
      if (this.#held.length > maxHeldPrints) {
        this.#held.shift();
        this.#droppedPrints += 1;
      }
      return;
    }
    this.#clearStatus();
    if (stream === this.#errors) this.#breakLine();
    else this.#isMidLine = this.#hasBroken = false;
    stream.write(text);
    this.#drawStatus();
  }

  /** Starts a new line before a message if an answer at the same terminal has left the cursor in the middle of one. */
  #breakLine(): void {
    if (!this.#isMidLine || !this.#errors.isTTY) return;
    this.#isMidLine = false;
    this.#hasBroken = true;
    this.#output.write("\n");
  }

  /** Returns the text as the terminal can draw it. */
  #drawable(stream: NodeJS.WriteStream, text: string): string {
    return this.#isAscii && stream.isTTY ? onlyAscii(text) : text;
  }

  #clearStatus(): void {
    // While a person is asked, the bottom line is the question.
    if (this.#status !== null && this.#held === null) this.#errors.write("\r\u001b[2K");
  }

  #drawStatus(): void {
    if (this.#status === null || this.#held !== null) return;
    this.#breakLine();
    const { style, width } = this.errorSurface;
    const signs = this.#isAscii ? asciiFrames : frames;
    const frame = signs[this.#frame % signs.length] ?? "";
    const work = this.#typed === "" ? this.#status : `${this.#status} › ${this.#typed}`;
    this.#errors.write(
      this.#drawable(this.#errors, `${style.cyan(frame)} ${style.dim(work.slice(0, width - 3))}`),
    );
  }

  [Symbol.dispose](): void {
    this.#typing?.[Symbol.dispose]();
    this.#typing = null;
    this.#typed = "";
    this.status(null);
    if (this.#silent !== null) clearTimeout(this.#silent);
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

/** True for a terminal whose cursor can be moved. */
function canMove(stream: NodeJS.WriteStream): boolean {
  return Boolean(stream.isTTY) && process.env["TERM"] !== "dumb";
}

function coloursWanted(stream: NodeJS.WriteStream): boolean {
  const { NO_COLOR, FORCE_COLOR } = process.env;
  if (NO_COLOR !== undefined && NO_COLOR !== "") return false;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== "" && FORCE_COLOR !== "0") return true;
  // Not undefined, for which the library would decide itself and treat CI as a terminal.
  return canMove(stream);
}
