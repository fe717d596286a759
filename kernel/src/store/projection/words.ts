/*
 * Splits texts and queries into words, both in the same way. SQLite's tokenizers are not used: they know only Unicode
 * 6.1, treat a sentence without spaces as one word, and cannot parse our queries.
 *
 * A word is a run of letters, digits and the marks on them, in lower case, without accents, and in compatibility form
 * ("ﬁ" is "fi", full-width letters are letters). In scripts without spaces between words, and in Korean, whose words
 * have varying endings, each pair of neighbouring characters is a word, and in texts each character too. A pictogram is
 * a word. Conditions compare whole words, without stop words or stems; the ranking compares stems (`stems.ts`).
 */

/** Maximum characters of a word that are compared: longer words are equal if they begin alike. */
export const maxWordLength = 64;

const ascii = /^[\x00-\x7f]*$/;
const longAscii = /[A-Za-z0-9]{65}/;
/*
 * Both patterns are bounded, because the engine keeps a backtracking position for each character of an unbounded run,
 * and throws a RangeError after some millions of them, depending on the stack.
 */
const asciiWords = new RegExp(`(?<![a-z0-9])[a-z0-9]{1,${maxWordLength}}`, "g");
/** The rest of a run beyond this length is a word of its own, in texts and queries alike. */
const pieces = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]{0,65535}|\p{Extended_Pictographic}|\p{RI}{2}/gu;
const unspaced =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Bopomofo}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]+/gu;
/** Accents of the Latin, Greek and Cyrillic scripts. Vowel marks of other scripts are part of the word. */
const accents = /[\u0300-\u036f]/g;

/** Returns the words of a text for its index: separated by spaces, as often as they occur. */
export function indexedWords(text: string): string {
  // The index's tokenizer does the same to plain text.
  if (ascii.test(text) && !longAscii.test(text))
    return text.includes("\0") ? text.replaceAll("\0", " ") : text;
  return wordsIn(text, true).join(" ");
}

/** Returns the different words of a text from `indexedWords`, as the index's tokenizer reads them. */
export function differentWords(indexed: string): string[] {
  return [...new Set(indexed.toLowerCase().match(/[^\x00-\x2f\x3a-\x60\x7b-\x7f]+/g) ?? [])];
}

/** Returns the different words of a search text, in order. */
export function searchedWords(text: string): string[] {
  return [...new Set(wordsIn(text, false))];
}

function wordsIn(text: string, alsoSingle: boolean): string[] {
  if (ascii.test(text)) return text.toLowerCase().match(asciiWords) ?? [];
  const words: string[] = [];
  for (const [piece] of folded(text).matchAll(pieces)) {
    let end = 0;
    for (const run of piece.matchAll(unspaced)) {
      if (run.index > end) words.push(cut(piece.slice(end, run.index)));
      addPairs(words, run[0], alsoSingle);
      end = run.index + run[0].length;
    }
    if (end < piece.length) words.push(cut(piece.slice(end)));
  }
  return words;
}

const folded = (text: string): string =>
  text.normalize("NFKD").replace(accents, "").normalize("NFC").toLowerCase().replaceAll("ς", "σ");

/**
 * Returns a word in the form that the index compares: without accents, in compatibility form, in lower case, and cut.
 */
export const foldedWord = (word: string): string => cut(ascii.test(word) ? word.toLowerCase() : folded(word));

/** By code points, so that no surrogate pair is split. */
const cut = (word: string): string =>
  word.length <= maxWordLength ? word : Array.from(word).slice(0, maxWordLength).join("");

function addPairs(words: string[], run: string, alsoSingle: boolean): void {
  let before: string | undefined;
  let isAlone = true;
  for (const character of run) {
    if (alsoSingle) words.push(character);
    if (before !== undefined) {
      words.push(before + character);
      isAlone = false;
    }
    before = character;
  }
  if (isAlone && !alsoSingle && before !== undefined) words.push(before);
}
