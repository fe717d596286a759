import { plainText, plainLine } from "../../base/plain-text.ts";
import { BlockScanner } from "./blocks.ts";
import { namesPerson } from "./turns.ts";

/** Longest answer that is written into a file, characters. The conversation has all of it. */
export const maxAnswerCharacters = 500_000;

const atx = /^( {0,3})(#{1,6})(?=[ \t]|$)/;
const underline = /^ {0,3}(=+|-+)[ \t]*$/;
const plainParagraph = /^ {0,3}(?![ \t>#|]|[-*+](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$))\S/;

/**
 * Returns a model's answer as Markdown that stays within its turn. The file's turns are its headings of the second level;
 * an answer's own headings are written two levels deeper, so that none of them begins a turn, however it is spelled, and
 * the outline of the file shows who said what. A block of code that the answer leaves open is closed. Outside of code,
 * images and HTML are written so that previews show their text: a preview would fetch an image from whatever host the
 * model names, with whatever it puts into the address. Everything else stays as it is.
 */
export function answerMarkdown(answer: string): string {
  const text = plainText(answer.replaceAll("\r\n", "\n").slice(0, maxAnswerCharacters)).trim();
  const scanner = new BlockScanner();
  const lines: string[] = [];
  /** True while the last written line may be the text of a heading that is made by the line below it. */
  let isParagraph = false;
  for (const line of text.split("\n")) {
    const inert = withoutHtml(line);
    // Raw HTML is escaped, so only fences begin a block.
    if (!scanner.isText(inert)) {
      lines.push(line);
      isParagraph = false;
      continue;
    }
    const level = isParagraph ? underline.exec(line)?.[1] : undefined;
    if (level !== undefined) {
      const above = lines.pop() ?? "";
      lines.push(`${level.startsWith("=") ? "###" : "####"} ${above.trim()}`);
      isParagraph = false;
      continue;
    }
    if (underline.test(line) && (lines.at(-1) ?? "").trim() !== "") lines.push("");
    lines.push(inert.replace(atx, (_, indent: string, marks: string) => indent + deeper(marks)));
    isParagraph = plainParagraph.test(line);
  }
  const end = scanner.missingEnd;
  const cut = answer.length > maxAnswerCharacters ? ["", remark("The rest of this answer is too long.")] : [];
  return [...lines, ...(end === null ? [] : [end]), ...cut].join("\n");
}

/** Returns a sentence of the kernel about an answer, as a quotation of one line. */
export function remark(sentence: string): string {
  return `> Lares: ${escaped(plainLine(sentence))}`;
}

/** Returns the heading of an agent's turn. An agent that calls itself "You" is named by its id. */
export function agentHeading({ id, name }: { readonly id: string; readonly name: string }): string {
  const shown = plainLine(name).trim();
  return `## ${escaped(shown === "" || namesPerson(shown) ? `Agent ${id}` : shown)}`;
}

function deeper(marks: string): string {
  return "#".repeat(Math.min(6, marks.length + 2));
}

/** Escapes the starts of images and HTML outside of the code spans of this line. */
function withoutHtml(line: string): string {
  if (!/[<!]/.test(line)) return line;
  const runs = Array.from(line.matchAll(/`+/g), ({ 0: run, index }) => ({ index, length: run.length }));
  /** The place of the last run of each length: without it, a line with many runs would be read once for each. */
  const last = new Map(runs.map(({ index, length }) => [length, index]));
  const pieces: string[] = [];
  let from = 0;
  for (const [place, { index, length }] of runs.entries()) {
    if (index < from || (last.get(length) ?? 0) <= index) continue;
    let other = place + 1;
    while (runs[other] !== undefined && runs[other]?.length !== length) other++;
    const end = (runs[other]?.index ?? line.length) + length;
    pieces.push(inertText(line.slice(from, index)), line.slice(index, end));
    from = end;
  }
  return pieces.join("") + inertText(line.slice(from));
}

function inertText(text: string): string {
  // Characters that are escaped already stay so.
  return text.replace(/\\[\s\S]|!(?=\[)|<(?=[a-z/!?])/gi, (found) =>
    found.length > 1 ? found : `\\${found}`,
  );
}

function escaped(text: string): string {
  return text.replace(/[\\`*_[\]<>#]/g, String.raw`\$&`);
}
