import { type Language, languageCodes, languages } from "./languages.ts";
import { foldedWord, maxWordLength } from "./words.ts";

/*
 * The ranking compares stems instead of words, without the stop words of the text's language. Numbers stay whole. A
 * path, an identifier or a date is one term as a whole, and its parts are terms as well: "get user" finds
 * "src/getUser.ts", and "src/getUser.ts" ranks it first. Each term begins with a private character, so that terms and
 * words never collide in the index.
 */

/** The first character of each term, which occurs in no word. */
export const termMark = "\ue001";
/** Replaces the separators of the text in a compound term. */
const joint = "\ue002";
/** Words of a text by which its language is detected. */
const detectedWords = 64;
/** Fewer stop words are not evidence: "sea" is English, and a Spanish stop word. */
const leastVotes = 2;
/** Maximum terms of a text; the rest of it is found by its words only. */
const maxTerms = 20_000;
/** Maximum words of a language whose stems are cached. */
const maxRememberedStems = 50_000;

const runs = /[\p{L}\p{N}\p{M}]+(?:[._/\\:@#'’-]+[\p{L}\p{N}\p{M}]+)*/gu;
const plainWords = /[\p{L}\p{N}\p{M}]+/gu;
const asciiWords = /[A-Za-z0-9]+/g;
const ascii = /^[\x00-\x7f]*$/;
const apostrophe = /['’]/;
const separators = /[._/\\:@#'’-]+/u;
const compound = /[\p{L}\p{N}\p{M}][._/\\:@#'’-]+[\p{L}\p{N}\p{M}]/u;
const camelParts = /\p{Lu}?[\p{Ll}\p{M}]+|\p{Lu}+(?!\p{Ll})|\p{N}+/gu;
const isCamel = /\p{Ll}\p{Lu}/u;
const unspaced =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Bopomofo}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;
const scripts: readonly (readonly [RegExp, Language])[] = [
  [/\p{Script=Cyrillic}/u, "ru"],
  [/\p{Script=Greek}/u, "el"],
  [/\p{Script=Arabic}/u, "ar"],
  [/\p{Script=Devanagari}/u, "hi"],
  [/\p{Script=Latin}/u, "en"],
];

/** For each stop word, one bit for each language that has it. */
const stopBits = new Map<string, number>();
for (const [bit, code] of languageCodes.entries()) {
  for (const stopWord of languages[code].stopWords) {
    // @orama/stopwords lacks it.
    if (code === "en") stopBits.set("a", (stopBits.get("a") ?? 0) | (1 << bit));
    // "don't" reaches the index as "don" and "t".
    for (const part of stopWord.toLowerCase().split(apostrophe)) {
      for (const word of new Set([part, foldedWord(part)])) {
        if (word !== "") stopBits.set(word, (stopBits.get(word) ?? 0) | (1 << bit));
      }
    }
  }
}

/**
 * Returns the language to which a text's stop words point; null if there are too few of them, or if they point to two
 * languages equally. The script alone gives only the likeliest language (`likelyLanguage`).
 */
export function detectedLanguage(text: string): Language | null {
  return votedFor(wordsOf(text));
}

/** Returns the likeliest language of a script; null for scripts whose words are not stemmed. */
const likelyLanguage = (text: string): Language | null =>
  ascii.test(text) ? "en" : (scripts.find(([script]) => script.test(text))?.[1] ?? null);

const votes = new Uint16Array(languageCodes.length);

function votedFor({ words }: TextWords): Language | null {
  votes.fill(0);
  for (let at = 0; at < words.length && at < detectedWords; at++) {
    for (let bits = stopBits.get(words[at] ?? "") ?? 0; bits !== 0; bits &= bits - 1) {
      const bit = 31 - Math.clz32(bits & -bits);
      votes[bit] = (votes[bit] ?? 0) + 1;
    }
  }
  let [best, most, isAlone] = [0, 0, false];
  for (const [bit, count] of votes.entries()) {
    if (count > most) [best, most, isAlone] = [bit, count, true];
    else if (count === most) isAlone = false;
  }
  return isAlone && most >= leastVotes ? (languageCodes[best] ?? null) : null;
}

interface TextTerms {
  /** The terms, separated by spaces, as often as they occur in the text. */
  readonly terms: string;
  /** The language whose stemmer was used; null if none was. */
  readonly language: Language | null;
}

/** Returns the terms of a text for the index. */
export function indexedTerms(text: string): TextTerms {
  const found = wordsOf(text);
  const language = votedFor(found) ?? likelyLanguage(text);
  const known = termsOf[language ?? "none"];
  let terms = "";
  for (const word of found.words) {
    const term = known.get(word) ?? learned(known, word, language);
    if (term !== "") terms += `${term} `;
  }
  for (const part of found.wholes) terms += `${termMark}${foldedWord(part)} `;
  return { terms, language };
}

/** One word of a question: a row matches with any of these terms. */
type SearchedTerm = readonly string[];

/**
 * Returns the terms that a question searches for, without stop words unless it has no other words. A question is too
 * short for its language to be detected, so each word is searched as it is and by its stems in the likely languages.
 * `spoken`: the languages of the searched texts.
 */
export function searchedTerms(text: string, spoken: readonly Language[]): SearchedTerm[] {
  const found = wordsOf(text);
  const voted = votedFor(found);
  const likely = likelyLanguage(text);
  const tongues = voted === null ? [...new Set([...spoken, ...(likely === null ? [] : [likely])])] : [voted];
  const bits = tongues.reduce((sum, language) => sum | (1 << languageCodes.indexOf(language)), 0);
  const [all, worth] = [new Map<string, SearchedTerm>(), new Map<string, SearchedTerm>()];
  for (const word of found.words) {
    const forms = [...tongues.map((language) => stemOf(word, language)), foldedWord(word)];
    const term = [...new Set(forms.map((form) => termMark + form))];
    all.set(term.join(" "), term);
    if (((stopBits.get(word) ?? 0) & bits) === 0) worth.set(term.join(" "), term);
  }
  for (const part of found.wholes) worth.set(part, [termMark + foldedWord(part)]);
  return [...(worth.size > 0 ? worth : all).values()];
}

interface TextWords {
  /** In lower case, as often as they occur in the text; for a compound, its parts. */
  readonly words: string[];
  /** Compounds as a whole. */
  readonly wholes: string[];
}

function wordsOf(text: string): TextWords {
  const found: TextWords = { words: [], wholes: [] };
  const isAscii = ascii.test(text);
  const shown = isAscii ? text : text.normalize("NFKC");
  const hasCamel = isCamel.test(shown);
  const hasUnspaced = !isAscii && unspaced.test(shown);
  const hasCompounds = compound.test(shown);
  const lower = hasCamel ? shown : shown.toLowerCase();
  for (const [run] of lower.matchAll(hasCompounds ? runs : isAscii ? asciiWords : plainWords)) {
    const words = hasCompounds && separators.test(run) ? run.split(separators) : [run];
    for (const word of words) {
      if (hasUnspaced && unspaced.test(word)) addPairs(found.words, word);
      else found.words.push(hasCamel ? word.toLowerCase() : word);
      if (!hasCamel || !isCamel.test(word)) continue;
      for (const [part] of word.matchAll(camelParts)) found.words.push(part.toLowerCase());
    }
    // "Anna's" is not a compound.
    if (words.length > 1 && !apostrophe.test(run)) found.wholes.push(words.join(joint).toLowerCase());
    if (found.words.length > maxTerms) break;
  }
  return found;
}

/** Scripts without spaces: each pair of neighbouring characters. */
function addPairs(words: string[], run: string): void {
  const characters = Array.from(run);
  if (characters.length === 1) words.push(run);
  for (let at = 1; at < characters.length; at++) words.push(`${characters[at - 1]}${characters[at]}`);
}

/** For each language, the term of a word; empty for a stop word. */
const termsOf: Record<Language | "none", Map<string, string>> = Object.fromEntries(
  [...languageCodes, "none"].map((code) => [code, new Map()]),
) as Record<Language | "none", Map<string, string>>;

function learned(known: Map<string, string>, word: string, language: Language | null): string {
  const folded = foldedWord(word);
  const bit = language === null ? 0 : 1 << languageCodes.indexOf(language);
  const isDropped = folded === "" || ((stopBits.get(folded) ?? 0) & bit) !== 0;
  const term = isDropped ? "" : termMark + stemOf(word, language);
  if (known.size >= maxRememberedStems) known.clear();
  known.set(word, term);
  return term;
}

/** Returns the stem of a lower-case word. A word that contains a digit is not stemmed. */
function stemOf(word: string, language: Language | null): string {
  const folded = foldedWord(word);
  if (language === null || /\p{N}/u.test(word) || word.length > maxWordLength) return folded;
  return foldedWord(languages[language].stem(word)) || folded;
}
