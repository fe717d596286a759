import { plainText, plainLine } from "../../base/plain-text.ts";
import { AnswerWriter } from "./answer-writer.ts";
import { inert } from "./inert-text.ts";
import { namesPerson } from "./turns.ts";

/** Longest answer that is written into a file, characters. The conversation has all of it. */
export const maxAnswerCharacters = 500_000;

/**
 * Returns a model's answer as Markdown that stays within its turn. The file's turns are its headings of the second level;
 * an answer's own headings are written two levels deeper, so that none of them begins a turn, however it is spelled, and
 * the outline of the file shows who said what. Images and HTML are written so that previews show their text: a preview
 * would fetch an image from whatever host the model names, with whatever it puts into the address. Only blocks of code
 * stay as they are; they are written at the start of a line, where all readers see them alike, and each is closed.
 */
export function answerMarkdown(answer: string): string {
  const text = plainText(answer.replaceAll("\r\n", "\n").slice(0, maxAnswerCharacters)).trim();
  const writer = new AnswerWriter();
  for (const line of text.split("\n")) writer.take(line);
  const cut = answer.length > maxAnswerCharacters ? ["", remark("The rest of this answer is too long.")] : [];
  return [...writer.end(), ...cut].join("\n");
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

function escaped(text: string): string {
  // A backslash alone does not do: an address before it swallows it.
  return inert(text).replace(/[\\`*_[\]<>#]/g, String.raw`\$&`);
}
