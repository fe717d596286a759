import stringWidth from "string-width";

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
/**
 * ASCII, Latin, Greek, Cyrillic and the signs that this folder draws: each takes one column. `string-width` compiles a
 * pattern of all emoji at its first other character, which takes longer than most commands take to render.
 */
const narrow = /^[ -~¡-¬®-˿Ͱ-ͷΑ-Ωα-ωЀ-Ѿ–—‘-‟•…−─-╿█✓✗]*$/;

/** Returns the columns that a text takes on a terminal; colour codes take none. */
export function displayWidth(text: string): number {
  return narrow.test(text) ? text.length : stringWidth(text);
}

/** Cuts a text without colour codes to `width` columns; ends it with an ellipsis if something was cut. */
export function truncate(text: string, width: number): string {
  if (take(text, width) === text) return text;
  return width < 1 ? "" : `${take(text, width - 1)}…`;
}

export function padEnd(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - displayWidth(text)));
}

export function padStart(text: string, width: number): string {
  return " ".repeat(Math.max(0, width - displayWidth(text))) + text;
}

/** Breaks a text without colour codes into lines of at most `width` columns, at spaces if there are any. */
export function wrap(text: string, width: number): string[] {
  return text.split("\n").flatMap((line) => wrapLine(line, Math.max(width, 8)));
}

function wrapLine(line: string, width: number): string[] {
  const lines: string[] = [];
  let current = "";
  for (const word of line.split(" ")) {
    const joined = current === "" ? word : `${current} ${word}`;
    if (take(joined, width) === joined) {
      current = joined;
      continue;
    }
    if (current !== "") lines.push(current);
    current = "";
    let used = 0;
    for (const { segment } of graphemes.segment(word)) {
      const columns = displayWidth(segment);
      if (used + columns > width) {
        lines.push(current);
        current = "";
        used = 0;
      }
      current += segment;
      used += columns;
    }
  }
  lines.push(current);
  return lines;
}

/** Returns as much of a text's beginning as fits, looking no further. */
function take(text: string, width: number): string {
  const head = text.slice(0, Math.max(0, width));
  if (narrow.test(head) && (head.length === text.length || narrow.test(text.charAt(head.length))))
    return head;
  let used = 0;
  for (const { segment, index } of graphemes.segment(text)) {
    used += displayWidth(segment);
    if (used > width) return text.slice(0, index);
  }
  return text;
}
