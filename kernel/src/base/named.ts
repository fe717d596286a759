/**
 * A stranger's name within a sentence that a person says yes to: one word as it is, anything else in quotes, so that
 * no name goes on as if it were the sentence.
 */
export function named(text: string): string {
  return /^[\p{L}\p{M}\p{N}._/*-]+$/u.test(text) ? text : JSON.stringify(text);
}
