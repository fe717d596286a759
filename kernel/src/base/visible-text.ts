/**
 * Text on which a person bases a decision. `plainText` is for text that is only mentioned; here nothing is dropped,
 * merged or cut. Each character is drawn either as itself or as a mark, and `readVisible` turns the shown text back
 * into exactly the original.
 *
 * The marks: `<U+200B>` for a character that is invisible, reorders text or only looks like a blank; `␛` and similar
 * symbols for control codes; `⇥` with three blanks for a tab; `␠` for a blank at the end of a line; `<␠×160>` for a
 * long run of the same character. A character that looks like one of these marks is itself shown by its code.
 */

/** A drawn unit and the piece of the text that it represents. */
export interface Atom {
  readonly shown: string;
  readonly source: string;
}

/** From this length, a run of blanks or of the same mark is shown as a count. */
export const countedRun = 16;
/** The number of marks above and below one letter; more would cover the lines around it. */
const maxCombining = 4;

/**
 * Ends a line that is broken in the middle of a word. It never stands for a character of the text, which would be shown
 * by its code.
 */
export const continuationMark = "\u21a9";
const tab = "\u21e5";
const blank = "\u2420";
const lineFeed = "\u240a";

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
/** Printable ASCII that is drawn unchanged. */
const plain = /^(?!.*(?:<U\+| {16}| $))[\x20-\x7e]*$/;
const emoji = /^\p{RGI_Emoji}$/v;
/** Characters that are invisible, unassigned, for private use, a blank other than a space, or one of the marks. */
const marked = /^[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\u2400-\u2426\u21a9\u21e5]--[\x20]]$/v;
/** The same without the marks. */
const unseen = /^[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]--[\x20]]$/v;
const combining = /^\p{M}$/u;

/** Returns the text as one line in which every character is visible. Those in `also` are shown by their codes, too. */
export function visibleText(text: string, also = ""): string {
  return visibleAtoms(text, also)
    .map(({ shown }) => shown)
    .join("");
}

/** As `visibleText`, in quotation marks that the text itself cannot close. */
export function quotedText(text: string): string {
  return `"${visibleText(text, '"')}"`;
}

/**
 * Makes the invisible characters of a sentence visible, and keeps the marks that `quotedText` has already put into it.
 */
export function visibleSentence(sentence: string): string {
  return Array.from(graphemes.segment(sentence), ({ segment }) =>
    emoji.test(segment)
      ? segment
      : Array.from(segment, (character) => (unseen.test(character) ? markOf(character) : character)).join(""),
  ).join("");
}

/** Returns the text that was passed to `visibleText`. */
export function readVisible(shown: string): string {
  return shown.replace(
    /<U\+([0-9A-F]+)(?:×(\d+))?>|<([\u2400-\u2421\u21e5])×(\d+)>|\u21e5 {3}|[\u2400-\u2421]/gu,
    (mark, code?: string, codes?: string, sign?: string, signs?: string) => {
      if (code !== undefined)
        return String.fromCodePoint(Number.parseInt(code, 16)).repeat(Number(codes ?? 1));
      return characterOf(sign ?? mark.slice(0, 1)).repeat(Number(signs ?? 1));
    },
  );
}

/** As `visibleText`, in pieces between which a line can be broken. */
export function visibleAtoms(text: string, also = ""): Atom[] {
  if (plain.test(text) && (also === "" || !Array.from(also).some((character) => text.includes(character))))
    return Array.from(text, (character) => ({ shown: character, source: character }));
  const atoms: Atom[] = [];
  let offset = 0;
  for (const { segment } of graphemes.segment(text)) {
    if (emoji.test(segment)) atoms.push({ shown: segment, source: segment });
    else atoms.push(...atomsOf(segment, text, offset, also));
    offset += segment.length;
  }
  return counted(withVisibleEnds(atoms));
}

function atomsOf(grapheme: string, text: string, start: number, also: string): Atom[] {
  const atoms: Atom[] = [];
  let offset = start;
  let marksLeft = 0;
  for (const character of grapheme) {
    const last = atoms.at(-1);
    if (combining.test(character) && !marked.test(character) && marksLeft > 0 && last !== undefined) {
      marksLeft -= 1;
      atoms[atoms.length - 1] = { shown: last.shown + character, source: last.source + character };
    } else {
      const isShown =
        !marked.test(character) &&
        !combining.test(character) &&
        !also.includes(character) &&
        !(character === "<" && readsAsMark(text, offset));
      marksLeft = isShown && character !== " " ? maxCombining : 0;
      // Characters of one grapheme that are drawn as themselves, such as the letters of a Hangul syllable, stay
      // together.
      if (isShown && last !== undefined && last.shown === last.source)
        atoms[atoms.length - 1] = { shown: last.shown + character, source: last.source + character };
      else atoms.push({ shown: isShown ? character : markOf(character), source: character });
    }
    offset += character.length;
  }
  return atoms;
}

const markAhead = /<(?:U\+|[\s\S]×\d)/uy;

function readsAsMark(text: string, offset: number): boolean {
  markAhead.lastIndex = offset;
  return markAhead.test(text);
}

/** A blank between words stays a blank; at the end of a line it becomes a visible mark. */
function withVisibleEnds(atoms: Atom[]): Atom[] {
  let isEnd = true;
  for (let index = atoms.length - 1; index >= 0; index--) {
    const { source } = atoms[index]!;
    if (source === " " && isEnd) atoms[index] = { shown: blank, source };
    else isEnd = source === "\n";
  }
  return atoms;
}

function counted(atoms: readonly Atom[]): Atom[] {
  const found: Atom[] = [];
  for (let index = 0; index < atoms.length;) {
    const atom = atoms[index]!;
    let end = index + 1;
    if (atom.source === " " || atom.shown !== atom.source)
      while (atoms[end]?.source === atom.source) end += 1;
    const times = end - index;
    if (times < countedRun) found.push(...atoms.slice(index, end));
    else found.push({ shown: `<${signOf(atom)}×${times}>`, source: atom.source.repeat(times) });
    index = end;
  }
  return found;
}

function signOf({ shown, source }: Atom): string {
  if (source === " ") return blank;
  if (source === "\t") return tab;
  return shown.startsWith("<") ? shown.slice(1, -1) : shown;
}

function markOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (character === "\t") return `${tab}   `;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}

function characterOf(sign: string): string {
  if (sign === tab) return "\t";
  if (sign === blank) return " ";
  const code = sign.charCodeAt(0) - 0x2400;
  return code === 0x21 ? "\u007f" : String.fromCharCode(code);
}

/** True for the mark of a line feed, after which a new line may begin. */
export function endsLine({ shown }: Atom): boolean {
  return shown === lineFeed || shown.startsWith(`<${lineFeed}`);
}

/** Makes a blank visible for a place directly before or after a line break, where it would not be seen. */
export function withVisibleBlank(atom: Atom): Atom {
  return atom.shown === " " ? { shown: blank, source: atom.source } : atom;
}
