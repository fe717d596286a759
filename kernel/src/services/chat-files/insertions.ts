import { lastTurn } from "./turns.ts";

const personHeading = "## You";

/**
 * Returns an agent's turn as it is inserted at an offset of a text: with empty lines around it, and below it a heading for
 * the person's next turn, unless that stands there already. What the person wrote behind the offset becomes that turn.
 */
export function turnInsertion(text: string, at: number, turn: string): string {
  const rest = text.slice(at);
  const lead = emptyLineAfter(text.slice(0, at));
  const inserted = `${lead}${turn}${beginsWithTurn(rest) ? "" : `\n\n${personHeading}`}${emptyLineBefore(rest)}`;
  return inLineBreaksOf(text, inserted);
}

/** Returns a heading for the person as it is inserted at the end of a text. */
export function personInsertion(text: string): string {
  return inLineBreaksOf(text, `${emptyLineAfter(text)}${personHeading}\n\n`);
}

function emptyLineAfter(text: string): string {
  if (text.trim() === "") return "";
  const breaks =
    /(?:\r\n|\r|\n)[ \t]*(?:\r\n|\r|\n)?$/.exec(text.slice(-200))?.[0].match(/\r\n|\r|\n/g)?.length ?? 0;
  return "\n".repeat(2 - breaks);
}

function emptyLineBefore(rest: string): string {
  const breaks = /^(?:\r\n|\r|\n)*/.exec(rest)?.[0].match(/\r\n|\r|\n/g)?.length ?? 0;
  return "\n".repeat(Math.max(0, 2 - breaks));
}

function beginsWithTurn(rest: string): boolean {
  const lines = rest.replace(/^(?:[ \t]*(?:\r\n|\r|\n))*/, "").split(/\r\n|\r|\n/, 2);
  return lastTurn(lines.join("\n"))?.start === 0;
}

function inLineBreaksOf(text: string, inserted: string): string {
  return text.includes("\r\n") ? inserted.replaceAll("\n", "\r\n") : inserted;
}
