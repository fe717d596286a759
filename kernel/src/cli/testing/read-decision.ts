import { continuationMark, readVisible } from "../../base/visible-text.ts";

/** Returns the text that was passed to `decisionLines`, provided that nothing was highlighted. */
export function readDecision(lines: readonly string[]): string {
  const shown = lines.map((line, index) => {
    if (index === lines.length - 1) return line;
    if (line.endsWith(continuationMark)) return line.slice(0, -continuationMark.length);
    return endsWithFeed.test(line) ? line : `${line} `;
  });
  return readVisible(shown.join(""));
}

const endsWithFeed = /(?:\u240a|<\u240a×\d+>)$/u;
