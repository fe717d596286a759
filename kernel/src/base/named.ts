/**
 * Returns a name chosen by an extension for use within a sentence that a person confirms. A single word is kept as it
 * is; anything else is quoted, so that no name can pass for a part of the sentence.
 */
export function named(text: string): string {
  return /^[\p{L}\p{M}\p{N}._/*-]+$/u.test(text) ? text : JSON.stringify(text);
}
