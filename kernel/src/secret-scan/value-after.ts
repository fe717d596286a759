import { isIn, setOf, valueCharacters, wordCharacters } from "./alphabets.ts";
import { maxValueLength } from "./plausible.ts";
import type { View } from "./view.ts";

interface Value {
  readonly start: number;
  readonly end: number;
  readonly isQuoted: boolean;
}

/** Maximum characters between a name and its operator: the rest of an identifier, a type, quotes. */
const maxBeforeOperator = 24;
/** Maximum characters between an operator and its value. */
const maxBeforeValue = 24;
const minValueLength = 6;

const code = (character: string): number => character.charCodeAt(0);
const quotes = setOf("\"'`");
const spaces = setOf(" \t\r\n\f\v");
const beforeValue = setOf(" \t\r\n\"'`:=>(\\");
const sentenceEnds = setOf(".:,!?");
const closesQuoted = setOf("\"'`\\\n");
const betweenNameAndOperator = wordCharacters.slice();
for (const character of " \t\"'`.-\\])?") betweenNameAndOperator[code(character)] = 1;
const letters = setOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");

/** Words between an operator and a value, as in "Authorization: Bearer …". */
const schemes = ["bearer ", "basic ", "token ", "api-token "];

/** Returns the value after a name and an operator, without quotes. `at` is the end of the known part of the name. */
export function valueAfter(view: View, at: number): Value | null {
  let before = at;
  // "token: string = …" and "name: TOKEN, value: …" have a second operator.
  for (let operators = 0; operators < 2; operators++) {
    const operator = operatorAfter(view, before);
    if (operator === -1) return null;
    const value = valueFrom(view, operator);
    const { end } = value;
    if (end - value.start >= minValueLength && !isCallOrType(view, value)) return value;
    before = end;
  }
  return null;
}

function valueFrom(view: View, operator: number): Value {
  const { text } = view;
  let start = operator;
  const limit = operator + maxBeforeValue;
  while (start < limit && isIn(beforeValue, text.charCodeAt(start))) start++;
  view.reached(start + 1);
  start = afterScheme(view, start);
  const isQuoted = isIn(quotes, text.charCodeAt(start - 1));
  let end = view.endOfRun(start, start + maxValueLength + 1, valueCharacters);
  if (isQuoted) {
    // Commas, brackets and the like belong to a quoted value, spaces do not.
    let closed = end;
    while (
      closed <= start + maxValueLength &&
      closed < text.length &&
      !isIn(closesQuoted, text.charCodeAt(closed)) &&
      !isIn(spaces, text.charCodeAt(closed))
    )
      closed++;
    view.reached(closed + 1);
    if (closed <= start + maxValueLength && isIn(closesQuoted, text.charCodeAt(closed))) end = closed;
  } else if (end <= start + maxValueLength)
    while (end > start && isIn(sentenceEnds, text.charCodeAt(end - 1))) end--;
  return { start, end, isQuoted };
}

function afterScheme(view: View, start: number): number {
  for (const scheme of schemes) {
    let at = 0;
    // Only ASCII letters differ by this bit.
    while (at < scheme.length && (view.text.charCodeAt(start + at) | 32) === (scheme.charCodeAt(at) | 32))
      at++;
    view.reached(start + at + 1);
    if (at === scheme.length) return start + at;
  }
  return start;
}

/** True for "token = next(…)" and for the type in "token: String = …". */
function isCallOrType(view: View, { start, end }: Value): boolean {
  const { text } = view;
  view.reached(end + 1);
  if (text.charCodeAt(end) === code("(")) return true;
  let at = start;
  while (at < end && isIn(letters, text.charCodeAt(at))) at++;
  if (at < end) return false;
  while (at < end + 6 && text.charCodeAt(at) === code(" ")) at++;
  view.reached(at + 2);
  const next = text.charCodeAt(at + 1);
  return text.charCodeAt(at) === code("=") && !Number.isNaN(next) && next !== code("=") && next !== code(">");
}

/** Returns the end of the operator after a name, or -1 if there is none nearby. */
function operatorAfter(view: View, from: number): number {
  const { text } = view;
  const element = valueOfElement(view, from);
  if (element !== -1) return element;
  const limit = from + maxBeforeOperator;
  let at = from;
  for (; at < limit; at++) {
    const character = text.charCodeAt(at);
    if (isIn(betweenNameAndOperator, character)) continue;
    view.reached(at + 2);
    if (character === code(":") || character === code("=") || character === code(">")) return at + 1;
    if (character === code("|") && text.charCodeAt(at + 1) === code("|")) return at + 2;
    // Matches between two quoted arguments, and between the name and the value of an element.
    if (character === code(",") && isIn(quotes, text.charCodeAt(at - 1))) return at + 1;
    return -1;
  }
  view.reached(at);
  return -1;
}

/** Returns the end of the operator in `name: TOKEN, value:`, or -1. */
function valueOfElement(view: View, from: number): number {
  const { text } = view;
  let at = from;
  if (isIn(quotes, text.charCodeAt(at))) at++;
  if (text.charCodeAt(at) === code(",")) at++;
  const gap = at;
  while (at < from + maxBeforeOperator && isIn(spaces, text.charCodeAt(at))) at++;
  view.reached(at + 1);
  if (at === gap) return -1;
  if (isIn(quotes, text.charCodeAt(at))) at++;
  for (const character of "value") {
    view.reached(at + 1);
    if (text.charCodeAt(at) !== code(character)) return -1;
    at++;
  }
  if (isIn(quotes, text.charCodeAt(at))) at++;
  const gapAfter = at;
  while (at < gapAfter + 4 && isIn(spaces, text.charCodeAt(at))) at++;
  view.reached(at + 1);
  return text.charCodeAt(at) === code(":") || text.charCodeAt(at) === code("=") ? at + 1 : -1;
}
