/** About as much as small models read of a text. */
const chunkCharacters = 1_000;
/** Chunks of one entry; what is behind them is found by its words. */
const maxChunks = 16;

/** Returns a text in pieces that an embedder reads whole, cut between words where that is possible. None is blank. */
export function chunksOf(text: string): string[] {
  const chunks: string[] = [];
  for (let at = 0; at < text.length && chunks.length < maxChunks;) {
    let end = Math.min(text.length, at + chunkCharacters);
    if (end < text.length) {
      const blank = text.slice(at + chunkCharacters / 2, end).search(/\s\S*$/u);
      if (blank >= 0) end = at + chunkCharacters / 2 + blank;
    }
    const chunk = text.slice(at, end).toWellFormed().trim();
    if (chunk !== "") chunks.push(chunk);
    at = end;
  }
  return chunks;
}
