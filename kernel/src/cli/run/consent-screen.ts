import {
  cardState,
  choiceFor,
  grantedChoice,
  isNothing,
  isTicked,
  toggleCard,
  toggleFolder,
  togglePart,
  toggleWorkspace,
  wholeChoice,
  type Choice,
} from "../../base/consent-choice.ts";
import { visibleText } from "../../base/visible-text.ts";
import { canonicalFolder } from "./consent-folder.ts";
import type { Key, KeyFrame, KeyScreen } from "../key-screen.ts";
import {
  drawFoot,
  drawProgramFile,
  drawQuestion,
  type DrawnQuestion,
  type DrawnRow,
  type Row,
} from "../render/consent.ts";
import type { Surface } from "../render/style.ts";
import { wrap } from "../render/width.ts";
import type { TrustProgram, TrustQuestion } from "../../base/vocabulary/trust.ts";

interface ConsentScreenPorts {
  readonly question: TrustQuestion;
  surface(): Surface;
  program(extension: string, path?: string): Promise<TrustProgram>;
}

/** A folder inside another one whose name is being typed. */
interface TypedFolder {
  readonly row: Extract<Row, { kind: "folder" }>;
  text: string;
  fault: string;
}

/** Asks for consent with single keys. The result is what the person ticked, or null for "not now". */
export class ConsentScreen implements KeyScreen<Choice | null> {
  readonly #ports: ConsentScreenPorts;
  #choice: Choice;
  #cursor = 0;
  #lastSeen = -1;
  /** The line that has to be on the screen before what the person answered counts; null if they did not answer too early. */
  #unreadThrough: number | null = null;
  /** The program difference that is open: its lines, and the first visible one. */
  #program: { readonly lines: readonly string[]; top: number } | null = null;
  /** The folder inside another one whose name is being typed. */
  #typed: TypedFolder | null = null;

  constructor(ports: ConsentScreenPorts) {
    this.#ports = ports;
    this.#choice = grantedChoice(ports.question);
  }

  frame(rows: number): KeyFrame {
    const surface = this.#ports.surface();
    if (this.#program !== null) {
      const { lines, top } = this.#program;
      return {
        lines: lines.slice(top),
        focus: 0,
        foot: [
          `↓ ↑ PgDn PgUp move   Esc back   (${Math.min(lines.length, top + rows - 2)} of ${lines.length} lines)`,
        ],
      };
    }
    const { lines, rows: drawn } = this.#drawn();
    const here = drawn[this.#cursor];
    const isEarly = this.#unreadThrough !== null;
    const foot =
      this.#typed === null
        ? [
            ...(isEarly
              ? wrap("There is more text to read first. Press the same key to continue.", surface.width)
              : []),
            ...drawFoot(
              this.#ports.question,
              this.#choice,
              here?.row,
              surface,
              isEarly ? "Enter: continues, and answers nothing" : undefined,
            ),
          ]
        : [
            `Folder inside ${visibleText(this.#typed.row.path)}: ${visibleText(this.#typed.text)}_`,
            this.#typed.fault === "" ? "Enter add   Esc back" : this.#typed.fault,
          ];
    return { lines, foot, focus: here?.line ?? 0 };
  }

  async key(key: Key): Promise<{ readonly result: Choice | null } | null> {
    if (this.#program !== null) this.#programKey(key, this.#program);
    else if (this.#typed !== null) this.#typedKey(key, this.#typed);
    else return await this.#questionKey(key);
    return null;
  }

  /** Records how far the lines were on the screen without a gap, from the first line on. */
  shown(firstLine: number, lastLine: number): void {
    if (this.#program === null && firstLine <= this.#lastSeen + 1)
      this.#lastSeen = Math.max(this.#lastSeen, lastLine);
  }

  async #questionKey({ name, text, shift }: Key): Promise<{ readonly result: Choice | null } | null> {
    const { lines, rows } = this.#drawn();
    const here = rows[this.#cursor];
    const row = here?.row;
    const unreadThrough = this.#unreadThrough;
    this.#unreadThrough = null;
    const isEnter = name === "return" || name === "enter";
    // Beside the hint it continues, and its own answer would be another one than the person has given.
    if (isEnter && unreadThrough !== null) this.#readOn(unreadThrough, rows);
    else if (name === "up" || text === "k") this.#move(-1, rows.length);
    else if (name === "down" || text === "j") this.#move(1, rows.length);
    else if (name === "pagedown") this.#toLine(rows, (here?.line ?? 0) + pageLines());
    else if (name === "pageup") this.#toLine(rows, (here?.line ?? 0) - pageLines());
    else if (name === "tab") this.#toCard(rows, shift ? -1 : 1);
    else if (name === "space" || name === "left" || name === "right") this.#tick(row);
    else if (text === "f" && row?.kind === "folder") this.#typed = { row, text: "", fault: "" };
    else if ((text === "p" || text === "d") && row !== undefined && "card" in row)
      this.#program = { lines: await this.#programLines(row.card.extension), top: 0 };
    else if (text === "a" || text === "y")
      return this.#answer(wholeChoice(this.#ports.question), lines.length - 1, rows);
    else if (isEnter)
      // Pressing Enter at once is not a permanent refusal.
      return isNothing(this.#choice) && isNothing(grantedChoice(this.#ports.question))
        ? { result: null }
        : this.#answer(this.#choice, rows.findLast((each) => this.#isOn(each.row))?.line ?? 0, rows);
    else if (["r", "n", "q"].includes(text) || name === "escape") return { result: null };
    return null;
  }

  /** Returns the answer once all lines up to `through` were on the screen: nothing is allowed unread. */
  #answer(choice: Choice, through: number, rows: readonly DrawnRow[]): { readonly result: Choice } | null {
    if (this.#lastSeen >= through) return { result: choice };
    this.#readOn(through, rows);
    return null;
  }

  /** Moves to the first line that was not on the screen, if there is one up to `through`. */
  #readOn(through: number, rows: readonly DrawnRow[]): void {
    if (this.#lastSeen >= through) return;
    this.#unreadThrough = through;
    this.#cursor = Math.max(
      0,
      rows.findLastIndex(({ line }) => line <= this.#lastSeen),
    );
    this.#toLine(rows, this.#lastSeen + 1);
  }

  #isOn(row: Row): boolean {
    switch (row.kind) {
      case "text":
        return false;
      case "workspace":
        return this.#choice.workspace.has(row.part.id);
      case "card":
        return cardState(this.#choice, row.card) !== "none";
      case "part":
        return choiceFor(this.#choice, row.card).parts.has(row.part.id);
      case "folder":
        return isTicked(choiceFor(this.#choice, row.card), row.path);
    }
  }

  #programKey({ name, text }: Key, program: { readonly lines: readonly string[]; top: number }): void {
    const page = pageLines();
    const moves: Readonly<Record<string, number>> = {
      up: -1,
      down: 1,
      pageup: -page,
      pagedown: page,
      space: page,
    };
    const by = moves[name] ?? (text === "k" ? -1 : text === "j" ? 1 : 0);
    if (name === "escape" || ["q", "p", "d"].includes(text)) this.#program = null;
    else program.top = Math.max(0, Math.min(program.lines.length - 1, program.top + by));
  }

  #typedKey({ name, text }: Key, typed: TypedFolder): void {
    if (name === "escape") this.#typed = null;
    else if (name === "backspace") typed.text = Array.from(typed.text).slice(0, -1).join("");
    else if (name === "return" || name === "enter") {
      const path = canonicalFolder(typed.row.path, typed.text);
      if (path === null) {
        typed.fault = `Write the path of a folder inside ${visibleText(typed.row.path)}, without "..".`;
        return;
      }
      const { card, path: outer } = typed.row;
      const without = this.#choice.extensions.get(card.extension)?.folders.has(outer)
        ? toggleFolder(this.#choice, card, outer)
        : this.#choice;
      this.#choice = toggleFolder(without, card, path);
      this.#typed = null;
    } else if (/^[^\p{Cc}]+$/u.test(text)) typed.text += text;
  }

  #tick(row: Row | undefined): void {
    if (row === undefined) return;
    const choice = this.#choice;
    switch (row.kind) {
      case "card":
        this.#choice = toggleCard(choice, row.card);
        break;
      case "part":
        this.#choice = togglePart(choice, row.card, row.part.id);
        break;
      case "folder":
        this.#choice = toggleFolder(choice, row.card, row.path);
        break;
      case "workspace":
        this.#choice = toggleWorkspace(choice, row.part.id);
        break;
      case "text":
        break;
    }
    // A folder that the documents do not request loses its row when it is unticked.
    this.#move(0, this.#drawn().rows.length);
  }

  #drawn(): DrawnQuestion {
    return drawQuestion(this.#ports.question, this.#choice, this.#ports.surface(), this.#cursor);
  }

  #move(by: number, count: number): void {
    this.#cursor = Math.max(0, Math.min(count - 1, this.#cursor + by));
  }

  /** Moves to the last row at or before a line, and at least one row in the direction of that line. */
  #toLine(rows: readonly DrawnRow[], line: number): void {
    const here = rows[this.#cursor]?.line ?? 0;
    const at = rows.findLastIndex((row) => row.line <= line);
    const next = line > here ? Math.max(at, this.#cursor + 1) : Math.min(at, this.#cursor - 1);
    this.#cursor = Math.max(0, Math.min(rows.length - 1, next));
  }

  #toCard(rows: readonly DrawnRow[], by: 1 | -1): void {
    for (let at = this.#cursor + by; at >= 0 && at < rows.length; at += by)
      if (rows[at]?.row.kind === "card") {
        this.#cursor = at;
        return;
      }
  }

  async #programLines(extension: string): Promise<string[]> {
    const surface = this.#ports.surface();
    const { files, reason } = await this.#ports.program(extension);
    const lines = reason === undefined ? [] : [visibleText(reason)];
    const differing = files.filter(({ change }) => change !== "unchanged");
    for (const { path } of differing.length > 0 ? differing : files) {
      const whole = await this.#ports.program(extension, path);
      for (const file of whole.files) lines.push(...drawProgramFile(file, surface));
    }
    return lines.length === 0 ? ["There is nothing to show."] : lines;
  }
}

/** The number of lines that PgDn and PgUp move by. */
const pageLines = (): number => Math.max(1, (process.stdout.rows || 24) - 6);
