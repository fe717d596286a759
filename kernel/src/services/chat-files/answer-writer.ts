import { inertLines } from "./inert-text.ts";

/** A block of code that is being written. */
interface Fence {
  readonly mark: string;
  readonly length: number;
}

const blank = /^[ \t]*$/;
/** Blanks and marks of lists, then what begins a block of code. */
const fence = /^([ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(`{3,}(?=[^`]*$)|~{3,})(.*)/s;
/** The rest of that line names a language; with a bar in it, it is the head of a table to some. */
const unusualInInfo = /[^\p{L}\p{N} _+#.,:;=/"'{}()@-]/gu;
const fenceEnd = /^ {0,3}(`{3,}|~{3,})[ \t]*$/;
/** Anything that a heading may stand behind: blanks, quotations, lists, tasks, notes. */
const inside = String.raw`(?:[\s>:*+-]|\d{1,9}[.)]|\[[ x]\]|\[\^[^\s\]]{1,100}\]:)*`;
const atx = new RegExp(String.raw`^(${inside})(#{1,6})(?=\s|$)`, "i");
const mathematics = new RegExp(String.raw`^${inside}\$\$`, "i");
const underline = /^ {0,3}(=+|-+)[ \t]*$/;
const anyUnderline = /^[ \t>]*(?:=+|-+)[ \t]*$/;
const plainParagraph = /^ {0,3}(?![ \t>#|]|[-*+](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$))\S/;

/**
 * Writes the lines of an answer. It does not have to know which of them are code to others: whatever it does not write as a
 * block of code of its own is harmless both as text and as code. Its own blocks begin at the start of a line and stand
 * in no list and no quotation, because readers of Markdown differ in where one ends in there.
 */
export class AnswerWriter {
  readonly #lines: string[] = [];
  /** The lines since the last empty one. */
  #paragraph: string[] = [];
  #fence: Fence | null = null;
  /** The indentation of the last code block; lines that follow it in its list lose the same indentation. */
  #indentation = 0;

  /** Takes the next line, without its line break. */
  take(line: string): void {
    if (this.#fence !== null) return this.#takeCode(this.#fence, withoutBlanks(line, this.#indentation));
    const [, before, run, info = ""] = fence.exec(line) ?? [];
    if (before !== undefined && run !== undefined) {
      this.#endParagraph();
      this.#fence = { mark: run.charAt(0), length: run.length };
      this.#indentation = before.length;
      this.#lines.push(run + info.replace(unusualInInfo, ""));
    } else if (blank.test(line)) {
      this.#endParagraph();
      this.#lines.push(line);
    } else {
      if (blanksBefore(line) < this.#indentation) this.#indentation = 0;
      this.#paragraph.push(line.slice(this.#indentation));
    }
  }

  /** Closes what is open, and returns all lines. */
  end(): readonly string[] {
    this.#endParagraph();
    if (this.#fence !== null) this.#endCode(this.#fence);
    return this.#lines;
  }

  #takeCode(open: Fence, line: string): void {
    const run = fenceEnd.exec(line)?.[1] ?? "";
    if (run.startsWith(open.mark) && run.length >= open.length) this.#endCode(open);
    else this.#lines.push(line);
  }

  #endCode({ mark, length }: Fence): void {
    this.#lines.push(mark.repeat(length));
    this.#fence = null;
  }

  #endParagraph(): void {
    /** True while the last written line may be the text of a heading that is made by the line below it. */
    let isParagraph = false;
    for (const line of inertLines(withClosedMathematics(this.#paragraph))) {
      const level = isParagraph ? underline.exec(line)?.[1] : undefined;
      if (level !== undefined) {
        const above = this.#lines.pop() ?? "";
        this.#lines.push(`${level.startsWith("=") ? "###" : "####"} ${above.trim()}`);
        isParagraph = false;
        continue;
      }
      // Below an empty line it makes no heading, in no list or quotation.
      if (anyUnderline.test(line) && !blank.test(this.#lines.at(-1) ?? "")) this.#lines.push("");
      this.#lines.push(line.replace(atx, (_, before: string, marks: string) => before + deeper(marks)));
      isParagraph = plainParagraph.test(line);
    }
    this.#paragraph = [];
  }
}

/**
 * Some previews, such as that of VS Code, take everything between two lines with `$$` as mathematics, blocks of code too. What
 * ends within the paragraph stays; elsewhere, the two signs are parted, so that none ends in a block of code.
 */
function withClosedMathematics(lines: readonly string[]): string[] {
  const isBlock = lines[0]?.startsWith("$$") === true && !isClosed(lines[0]);
  const end = isBlock ? lines.findIndex((line, index) => index > 0 && endsMathematics(line)) : -1;
  return lines.map((line, index) =>
    index <= end || !mathematics.test(line) || isClosed(line) ? line : line.replace("$$", () => "$ $"),
  );
}

function isClosed(line: string): boolean {
  return endsMathematics(line.slice(line.indexOf("$$") + 2));
}

function endsMathematics(line: string): boolean {
  return line.trimEnd().endsWith("$$");
}

function deeper(marks: string): string {
  return "#".repeat(Math.min(6, marks.length + 2));
}

function blanksBefore(line: string): number {
  return /^[ \t]*/.exec(line)?.[0].length ?? 0;
}

function withoutBlanks(line: string, most: number): string {
  return line.slice(Math.min(most, blanksBefore(line)));
}
