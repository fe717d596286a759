import { isJsonObject } from "./json.ts";

/** Stands in place of a text that a person had removed. */
export const redactedMark = "[redacted by the person]";

/** Finds texts and replaces them by a mark, also where they stand inside of JSON that is itself a text. */
export interface TextRemover {
  /** The texts in all forms in which they may stand in a file, the longest first. */
  readonly forms: readonly string[];
  /** Every text for which `holds` is true contains one of these, so a database can preselect by them. */
  readonly needles: readonly string[];
  /** Returns whether a text contains one of the forms, or the beginning of one at a place where the text was cut off. */
  holds(text: string): boolean;
  /** Returns a value in which a mark stands in place of the texts, in names of fields too. */
  from<Value>(value: Value): Value;
}

/** Minimum number of characters of a beginning. Titles, notifications and error messages keep only the beginning of a text. */
const cutCharacters = 40;
/** Matches the end of a shortened text: the end itself, the quote of a JSON string, an ellipsis, or a replacement character. */
const cutMark = /^(?:$|\\*"|…|\.\.\.|\ufffd)/u;

/** A text as it may stand somewhere. */
class Form {
  readonly text: string;
  readonly head: string;
  /** For each length of a prefix of the form: its longest border, which is a shorter prefix that it ends with. */
  #borders: Int32Array | null = null;
  /** The same, but only borders with another next character, because that one has just been compared. */
  #others: Int32Array | null = null;

  constructor(text: string) {
    this.text = text;
    this.head = text.slice(0, cutCharacters);
  }

  standsIn(text: string): boolean {
    return text.includes(this.text) || this.cutsIn(text, 1).length > 0;
  }

  /**
   * Returns the places where a text has a beginning of the form and was cut off behind it, at most so many. Each character is
   * looked at a bounded number of times, also in texts that repeat themselves.
   */
  cutsIn(text: string, most = Infinity): { readonly from: number; readonly to: number }[] {
    const found: { from: number; to: number }[] = [];
    const form = this.text;
    const first = form.length <= cutCharacters ? -1 : text.indexOf(this.head);
    if (first < 0) return found;
    const { borders, others } = this.#tables();
    /** The length of the longest beginning of the form that ends before `to`. */
    let length = 0;
    for (let to = first; to <= text.length && found.length < most; to++) {
      const next = text[to];
      const ends = length > 0 && form[length] === next ? (others[length] ?? 0) : length;
      if (ends >= cutCharacters && cutMark.test(text.slice(to, to + 8))) {
        found.push({ from: to - ends, to });
        length = 0;
      }
      while (length > 0 && (length === form.length || form[length] !== next)) length = borders[length] ?? 0;
      if (form[length] === next) length++;
    }
    return found;
  }

  #tables(): { readonly borders: Int32Array; readonly others: Int32Array } {
    if (this.#borders !== null && this.#others !== null)
      return { borders: this.#borders, others: this.#others };
    const form = this.text;
    const borders = new Int32Array(form.length + 1);
    const others = new Int32Array(form.length + 1);
    let border = 0;
    for (let length = 1; length < form.length; length++) {
      others[length] = form[border] === form[length] ? (others[border] ?? 0) : border;
      while (border > 0 && form[border] !== form[length]) border = borders[border] ?? 0;
      if (form[border] === form[length]) border++;
      borders[length + 1] = border;
    }
    others[form.length] = border;
    this.#borders = borders;
    this.#others = others;
    return { borders, others };
  }
}

/** Returns a remover of these texts. One that removes none finds nothing and changes nothing. */
export function textRemover(texts: readonly string[]): TextRemover {
  const forms = [...new Set(texts.filter((text) => text !== "").flatMap(formsOf))]
    .toSorted((one, other) => other.length - one.length)
    .map((text) => new Form(text));
  const replaced = (value: unknown): unknown => {
    if (typeof value === "string")
      return forms.reduce((left, form) => {
        const now = left.includes(form.text) ? left.split(form.text).join(redactedMark) : left;
        return withMarks(now, form.cutsIn(now));
      }, value);
    if (Array.isArray(value)) return value.map(replaced);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [String(replaced(name)), replaced(each)]),
    );
  };
  return {
    forms: forms.map(({ text }) => text),
    needles: [...new Set(forms.map(({ head }) => head))],
    holds: (text) => forms.some((form) => form.standsIn(text)),
    from: (value) => replaced(value) as typeof value,
  };
}

/** `places`: in their order, without overlaps. */
function withMarks(text: string, places: readonly { readonly from: number; readonly to: number }[]): string {
  if (places.length === 0) return text;
  const kept = places.map(({ from }, index) => text.slice(places[index - 1]?.to ?? 0, from));
  return [...kept, text.slice(places.at(-1)?.to)].join(redactedMark);
}

/** A single word of this many letters is taken for a text, not for the name of a field or state. */
const distinctiveLetters = 20;
const distinctiveCharacters = 6;

/**
 * True for a text that stands in data only because somebody wrote it. A plain word such as "path", a number or a date may be
 * a name or a value of the kernel's own, and replacing it would break the data.
 */
export function isDistinctive(text: string): boolean {
  const trimmed = text.trim();
  if (/\p{L}\s+\S|\S\s+\p{L}/u.test(trimmed)) return true;
  if (/^[\p{L}\p{M}_.:/-]*$/u.test(trimmed)) return trimmed.length >= distinctiveLetters;
  return trimmed.length >= distinctiveCharacters && /\p{L}/u.test(trimmed);
}

/** As it is written, in JSON, and in JSON that is a text in JSON. */
function formsOf(text: string): string[] {
  const once = escaped(text);
  return [text, once, escaped(once)];
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
