import { EmbeddingError } from "./port.ts";

/** A blank text has no meaning to embed, and an index accepts no vector without a direction. */
export function refuseBlank(texts: readonly string[]): void {
  const blank = texts.findIndex((text) => !/\S/u.test(text));
  if (blank < 0) return;
  throw new EmbeddingError(
    `Text ${blank + 1} of ${texts.length} is blank, and cannot be embedded. It is found by its fields only.`,
    { isRetryable: false },
  );
}

/**
 * Returns the list in parts, in order: each has at most `maxTexts` texts and, unless it is a single text,
 * `maxCharacters` characters.
 */
export function inBatches(
  texts: readonly string[],
  { maxTexts, maxCharacters }: { maxTexts: number; maxCharacters: number },
): string[][] {
  const batches: string[][] = [];
  let batch: string[] = [];
  let characters = 0;
  for (const text of texts) {
    if (batch.length > 0 && (batch.length === maxTexts || characters + text.length > maxCharacters)) {
      batches.push(batch);
      batch = [];
      characters = 0;
    }
    batch.push(text);
    characters += text.length;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}
