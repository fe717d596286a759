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

/** Returns the range of a form's beginning that ends where the text was cut off; null if there is none. */
function cutIn(text: string, form: string): { readonly from: number; readonly to: number } | null {
  if (form.length <= cutCharacters) return null;
  const head = form.slice(0, cutCharacters);
  for (let from = text.indexOf(head); from >= 0; from = text.indexOf(head, from + 1)) {
    let length = cutCharacters;
    while (length < form.length && text[from + length] === form[length]) length++;
    const to = from + length;
    if (cutMark.test(text.slice(to, to + 8))) return { from, to };
  }
  return null;
}

/** Returns a remover of these texts. One that removes none finds nothing and changes nothing. */
export function textRemover(texts: readonly string[]): TextRemover {
  const forms = [...new Set(texts.filter((text) => text !== "").flatMap(formsOf))].toSorted(
    (one, other) => other.length - one.length,
  );
  const replaced = (value: unknown): unknown => {
    if (typeof value === "string")
      return forms.reduce((left, form) => {
        let now = left.includes(form) ? left.split(form).join(redactedMark) : left;
        for (let cut = cutIn(now, form); cut !== null; cut = cutIn(now, form))
          now = `${now.slice(0, cut.from)}${redactedMark}${now.slice(cut.to)}`;
        return now;
      }, value);
    if (Array.isArray(value)) return value.map(replaced);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [String(replaced(name)), replaced(each)]),
    );
  };
  return {
    forms,
    needles: [...new Set(forms.map((form) => form.slice(0, cutCharacters)))],
    holds: (text) => forms.some((form) => text.includes(form) || cutIn(text, form) !== null),
    from: (value) => replaced(value) as typeof value,
  };
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
