import type { ShownPart } from "./entries.ts";
import type { Streamed } from "./transcript.ts";

/** Characters of an answer that is being written: it is drawn again with each piece. */
const maxWritten = 60_000;

/** Returns the end of what there is of an answer, without looking at all of it. */
export function endOf(all: readonly (ShownPart | Streamed)[]): {
  readonly parts: (ShownPart | Streamed)[];
  readonly leftOut: number;
} {
  let first = all.length;
  let length = 0;
  while (first > 0 && length < maxWritten) length += lengthOf(all[--first]!);
  const leftOut = all.slice(0, first).reduce((sum, part) => sum + lengthOf(part), 0);
  const [begin, ...rest] = all.slice(first);
  const over = Math.max(0, length - maxWritten);
  if (over === 0 || begin === undefined || !("text" in begin))
    return { parts: joined(all.slice(first)), leftOut };
  // The entry of a burst may be longer than all that is shown.
  const end = { type: begin.type, text: begin.text.slice(over).toWellFormed() };
  return { parts: joined([end, ...rest]), leftOut: leftOut + over };
}

/** Returns how long what is drawn of a part is. */
export function lengthOf(part: ShownPart | Streamed): number {
  return "text" in part ? part.text.length : 1;
}

/** Joins texts that follow each other: what has streamed continues what is logged. */
export function joined(parts: readonly (ShownPart | Streamed)[]): (ShownPart | Streamed)[] {
  const all: (ShownPart | Streamed)[] = [];
  for (const part of parts) {
    const last = all.at(-1);
    if (last !== undefined && (part.type === "text" || part.type === "reasoning") && last.type === part.type)
      all[all.length - 1] = { type: part.type, text: last.text + part.text };
    else all.push(part);
  }
  return all;
}
