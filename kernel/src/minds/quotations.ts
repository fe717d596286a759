/**
 * Finds whether a text is a quotation of whole sentences. A part of a sentence may mean the opposite of it, so whatever
 * could be the middle of a statement is taken for one: an abbreviation, what follows a colon, a list with its heading, the
 * inside of quotation marks, brackets, quoted lines and code.
 */

/** Returns the consecutive whole sentences of a message that a text repeats, as they were written; null if it repeats none. */
export function quotationIn(message: string, text: string): string | null {
  const wanted = comparable(withoutMarks(text)).replace(/[.!]$/u, "");
  if (wanted === "") return null;
  const { words, plain, begins, ends } = sentencesOf(message);
  for (const at of placesOf(wanted, plain)) {
    const first = begins.get(at);
    if (first === undefined) continue;
    const end = at + wanted.length;
    // The mark at the end may be left out, but not that of a question.
    const last = ends.get(end) ?? (/^[.!]/u.test(plain.slice(end, end + 1)) ? ends.get(end + 1) : undefined);
    if (last !== undefined) return words.slice(first, last + 1).join(" ");
  }
  return null;
}

/**
 * Returns where a text is found, also where places overlap. By Knuth, Morris and Pratt: a model chooses both texts, and
 * `indexOf` takes the product of their lengths where they resemble themselves.
 */
function* placesOf(wanted: string, text: string): Generator<number> {
  /** For each length of a beginning of the text that is wanted: the longest shorter beginning with which it ends. */
  const shorter = new Int32Array(wanted.length + 1);
  const longer = (length: number, next: number): number => {
    while (length > 0 && wanted.charCodeAt(length) !== next) length = shorter[length] ?? 0;
    return wanted.charCodeAt(length) === next ? length + 1 : 0;
  };
  for (let at = 1, length = 0; at < wanted.length; at++) {
    length = longer(length, wanted.charCodeAt(at));
    shorter[at + 1] = length;
  }
  for (let at = 0, length = 0; at < text.length; at++) {
    length = longer(length, text.charCodeAt(at));
    if (length === wanted.length) yield at + 1 - length;
  }
}

interface Sentences {
  readonly words: readonly string[];
  /** The words, as they are compared. */
  readonly plain: string;
  /** The words with which sentences begin and end, by where they begin and end in `plain`. */
  readonly begins: ReadonlyMap<number, number>;
  readonly ends: ReadonlyMap<number, number>;
}

/** A list item, a quoted line, a row of a table, or what continues one of these. */
const partOfMore = /^(?:\s{2,}|\t|\s*(?:[-*+•·‣>|]|\d{1,4}[.)]|\p{L}[.)]\s))/u;
const fence = /^\s*(?:```|~~~)/u;

function sentencesOf(message: string): Sentences {
  const words: string[] = [];
  const begins = new Map<number, number>();
  const ends = new Map<number, number>();
  let plain = "";
  const marks = new Marks();
  let isFenced = false;
  /** A sentence may end with the last word. */
  let isEnd = true;
  let isBlankBefore = false;
  let isPartBefore = false;
  for (const line of message.split(/\r\n|[\n\r\u0085\u2028\u2029]/u)) {
    const ofLine = wordsOf(line);
    if (ofLine.length === 0) {
      isBlankBefore = true;
      marks.paragraphEnds();
      continue;
    }
    if (fence.test(line)) isFenced = !isFenced;
    const isPart = isFenced || fence.test(line) || partOfMore.test(line);
    for (const [place, word] of ofLine.entries()) {
      const isInside: boolean = place > 0 ? isPart : isPart || (isPartBefore && !isBlankBefore);
      if (words.length === 0 || (isEnd && !isInside && !/^\P{L}*\p{Ll}/u.test(word))) {
        if (words.length > 0) ends.set(plain.length, words.length - 1);
        begins.set(plain.length + (words.length === 0 ? 0 : 1), words.length);
      }
      plain += (words.length === 0 ? "" : " ") + comparable(word);
      words.push(word);
      marks.take(word);
      isEnd = !marks.isOpen && endsSentence(word);
    }
    isBlankBefore = false;
    isPartBefore = isPart;
  }
  if (words.length > 0) ends.set(plain.length, words.length - 1);
  return { words, plain, begins, ends };
}

/** Follows what is open: quotation marks, brackets, and what a colon introduces. */
class Marks {
  #isQuoted = false;
  #isSingle = false;
  #isCode = false;
  #depth = 0;
  /** Words since a colon that introduces something; null: nothing is introduced. */
  #introduced: number | null = null;

  get isOpen(): boolean {
    return this.#isQuoted || this.#isSingle || this.#isCode || this.#depth > 0 || this.#introduced !== null;
  }

  take(word: string): void {
    const plain = comparable(word);
    for (const mark of plain)
      if (mark === '"') this.#isQuoted = !this.#isQuoted;
      else if (mark === "`") this.#isCode = !this.#isCode;
      else if (/[([{「『（【《]/u.test(mark)) this.#depth++;
      else if (/[)\]}」』）】》]/u.test(mark)) this.#depth = Math.max(0, this.#depth - 1);
    // One within a word is an apostrophe.
    if (/^[^\p{L}\p{N}]*'/u.test(plain)) this.#isSingle = true;
    const tail = plain.slice(/^.*[\p{L}\p{N}]/su.exec(plain)?.[0].length ?? 0);
    if (tail.includes("'")) this.#isSingle = false;
    if (this.#introduced !== null) this.#introduced++;
    if (/[:：]/u.test(tail)) this.#introduced = 0;
  }

  paragraphEnds(): void {
    // A paragraph that a colon introduces may stand by itself.
    if (this.#introduced !== 0) this.#introduced = null;
  }
}

/** Words with a point that ends no sentence. */
const abbreviations: ReadonlySet<string> = new Set(
  "mr mrs ms dr prof st jr sr etc vs cf no nr fig inc ltd co corp dept approx resp bzw usw ca vgl evtl ggf inkl exkl sog bspw abs art hr fr mme mlle sra eds ed vol pp".split(
    " ",
  ),
);

function endsSentence(word: string): boolean {
  const plain = word.replace(/(?<!["'“”„«»‘’)\]}*_~」』）】》])["'“”„«»‘’)\]}*_~」』）】》]+$/u, "");
  if (/[。！？]$/u.test(plain)) return true;
  if (!/[.!?]$/u.test(plain) || plain.endsWith("..")) return false;
  if (!plain.endsWith(".")) return true;
  const core = plain.replace(/^[^\p{L}\p{N}]+/u, "").slice(0, -1);
  const isShort = core.length < 2 || /^[\p{N}.,]+$/u.test(core) || core.includes(".");
  return !isShort && !abbreviations.has(core.toLowerCase());
}

/** Where no spaces are between sentences, they are taken for words. */
function wordsOf(line: string): string[] {
  return line.replace(/([。！？])(?=\S)/gu, "$1 ").match(/\S+/gu) ?? [];
}

/** Neither spaces, the forms of quotation marks, nor upper case make a difference. */
function comparable(text: string): string {
  return wordsOf(text)
    .join(" ")
    .normalize("NFC")
    .replace(/[“”„‟«»″＂]/gu, '"')
    .replace(/[‘’‚‛‹›′＇]/gu, "'")
    .toLowerCase();
}

/** Returns a text without the quotation marks around all of it. */
function withoutMarks(text: string): string {
  const [, inner] = /^\s*["“”„«»](.*)["“”„«»]\s*$/su.exec(text) ?? [];
  return inner === undefined || /["“”„«»]/u.test(inner) ? text : inner;
}
