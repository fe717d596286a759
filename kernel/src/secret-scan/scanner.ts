import { RE2JS } from "re2js";
import {
  type CharacterSet,
  characterSet,
  endOfRun,
  isIn,
  valueCharacters,
  wordCharacters,
} from "./alphabets.ts";
import { KeywordAutomaton } from "./keywords.ts";
import { entropy, isPassword, isPlausible, maxValueLength, type Strength } from "./plausible.ts";
import type { SecretRules, TokenRule } from "./rules.ts";

/** A secret in a text: UTF-16 positions, `end` exclusive. */
export interface Finding {
  /** The name of the rule, for people. */
  readonly rule: string;
  readonly start: number;
  readonly end: number;
}

type Detector =
  | { readonly kind: "token"; readonly rule: TokenRule; readonly begins: string; readonly set: CharacterSet }
  | { readonly kind: "named"; readonly name: string; readonly word: string; readonly strength: Strength }
  | {
      readonly kind: "block";
      readonly name: string;
      readonly begins: string;
      readonly holds: string;
      readonly ends: string;
    }
  | { readonly kind: "address"; readonly name: string; readonly minLength: number }
  | { readonly kind: "userinfo" };

/** Maximum characters between a name and its operator: the rest of an identifier, a type, quotes. */
const maxBeforeOperator = 24;
/** Maximum characters between an operator and its value. */
const maxBeforeValue = 24;
const maxAddressLength = 400;
/** Maximum characters of a token if its rule has no upper bound. */
const maxTokenLength = 16 * 1024;
/** Maximum characters of a block without an end line. */
const maxBlockLength = 64 * 1024;
/** Minimum entropy of a token; below it is a placeholder such as "ghp_xxxxxxxxxxxx". */
const minEntropy = 2.3;

const authorityCharacters: CharacterSet = valueCharacters.with("/".charCodeAt(0), 0);

const blockCharacters = ((): CharacterSet => {
  const set = new Uint8Array(128);
  for (const character of "+/=:,.\\\"'-_ \t\r\n[]") set[character.charCodeAt(0)] = 1;
  for (let code = 48; code < 123; code++) if (isIn(wordCharacters, code)) set[code] = 1;
  return set;
})();

/**
 * Finds secrets in untrusted texts: by the prefix of a token, by the name before a value, by the lines around a key.
 * Takes one look-up per character, and more only at keywords; the time is linear in the length of the text.
 */
export class SecretScanner {
  readonly #detectors: Detector[] = [];
  readonly #automaton: KeywordAutomaton;
  readonly #patterns: readonly { readonly name: string; readonly pattern: RE2JS }[];

  /** Throws if a pattern is not valid in RE2. */
  constructor({ tokens, named, blocks, addresses, patterns = [] }: SecretRules) {
    const keywords: string[] = [];
    const add = (keyword: string, detector: Detector): void => {
      keywords.push(keyword);
      this.#detectors.push(detector);
    };
    for (const rule of tokens) {
      const set = characterSet(rule.alphabet);
      if (set === null) throw new Error(`${rule.name}: unknown alphabet ${rule.alphabet}`);
      for (const begins of rule.begins) add(begins, { kind: "token", rule, begins, set });
    }
    for (const [strength, words] of [
      ["strong", named.strong],
      ["weak", named.weak],
      ["service", named.services],
    ] as const)
      for (const word of words)
        for (const spelling of new Set(["", "_", "-", " ", "."].map((joint) => word.replaceAll("_", joint))))
          add(spelling, {
            kind: "named",
            name: strength === "service" ? "secret" : word.replaceAll("_", " "),
            word: spelling,
            strength,
          });
    for (const block of blocks) add(block.begins, { kind: "block", ...block });
    for (const { name, begins, length } of addresses)
      for (const keyword of begins) add(keyword, { kind: "address", name, minLength: length });
    add("://", { kind: "userinfo" });
    this.#automaton = new KeywordAutomaton(keywords);
    this.#patterns = patterns.map(({ name, pattern }) => ({ name, pattern: RE2JS.compile(pattern) }));
  }

  /** Returns the findings in text order, without overlaps. */
  find(text: string): readonly Finding[] {
    const found: Finding[] = [];
    const scan = new Scan(text, found);
    this.#automaton.scan(text, (keyword, end) => {
      const detector = this.#detectors[keyword];
      if (detector !== undefined) scan.detect(detector, end);
    });
    for (const { name, pattern } of this.#patterns) {
      const matcher = pattern.matcher(text);
      while (matcher.find())
        if (matcher.end() > matcher.start())
          found.push({ rule: name, start: matcher.start(), end: matcher.end() });
    }
    return found.length < 2 ? found : apart(found);
  }

  /** Returns the text with each secret replaced by a mark with the name of its rule. */
  replace(text: string, mark: (rule: string) => string): string {
    const found = this.find(text);
    if (found.length === 0) return text;
    let replaced = "";
    let from = 0;
    for (const { rule, start, end } of found) {
      replaced += text.slice(from, start) + mark(rule);
      from = end;
    }
    return replaced + text.slice(from);
  }
}

class Scan {
  readonly #text: string;
  readonly #found: Finding[];
  /** The last measured run of each alphabet, so that a text full of keywords is measured only once. */
  readonly #runs = new Map<CharacterSet, { readonly from: number; readonly end: number }>();
  /** The end of the last run that each rule without an upper bound has checked. */
  readonly #judged = new Map<TokenRule, number>();
  /** The end of the last block, so that lines inside it begin no new one. */
  #blockEnd = 0;

  constructor(text: string, found: Finding[]) {
    this.#text = text;
    this.#found = found;
  }

  detect(detector: Detector, at: number): void {
    switch (detector.kind) {
      case "token":
        return this.#token(detector, at);
      case "named":
        return this.#named(detector, at);
      case "block":
        return this.#block(detector, at);
      case "address":
        return this.#address(detector, at);
      case "userinfo":
        return this.#userinfo(at);
    }
  }

  #token({ rule, begins, set }: Extract<Detector, { kind: "token" }>, at: number): void {
    const text = this.#text;
    const start = at - begins.length;
    const isWord = begins.endsWith(" ");
    if (!isWord && text.slice(start, at) !== begins) return;
    if (rule.glued !== true && start > 0 && isIn(wordCharacters, text.charCodeAt(start - 1))) return;
    const [least, most = maxTokenLength] = rule.length;
    const end = this.#runFrom(at, set);
    if (end - at < least || end - at > most || this.#judged.get(rule) === end) return;
    // Repeated prefixes within one run are checked once.
    if (rule.length[1] === undefined) this.#judged.set(rule, end);
    const body = text.slice(at, end);
    if (rule.plain !== true && !/\d/u.test(body)) return;
    if (rule.dots !== undefined && body.split(".").filter((part) => part.length > 3).length <= rule.dots)
      return;
    if (entropy(body) < minEntropy || /x{5}|X{5}|EXAMPLE_|\*{4}/u.test(body)) return;
    this.#found.push({ rule: rule.name, start: isWord ? at : start, end });
  }

  #runFrom(at: number, set: CharacterSet): number {
    const known = this.#runs.get(set);
    if (known !== undefined && known.from <= at && at <= known.end) return known.end;
    const end = endOfRun(this.#text, at, Infinity, set);
    this.#runs.set(set, { from: at, end });
    return end;
  }

  #named({ name, word, strength }: Extract<Detector, { kind: "named" }>, at: number): void {
    // The name of a service does not count inside another word.
    if (strength === "service" && isInsideWord(this.#text, at - word.length)) return;
    const value = valueAfter(this.#text, at);
    if (value === null) return;
    const { start, end, isQuoted } = value;
    const secret = this.#text.slice(start, end);
    // A value that contains its own name is a label: `alt="1Password"`.
    if (secret.toLowerCase().includes(word) || !isPlausible(secret, strength, isQuoted)) return;
    this.#found.push({ rule: name, start, end });
  }

  #block({ name, begins, holds, ends }: Extract<Detector, { kind: "block" }>, at: number): void {
    const text = this.#text;
    const start = at - begins.length;
    if (start < this.#blockEnd || text.slice(start, at) !== begins) return;
    const heading = text.slice(at, at + 64);
    const held = heading.indexOf(holds);
    if (held === -1 || /[\n"'`]/u.test(heading.slice(0, held))) return;
    const body = at + held + holds.length;
    const within = text.slice(body, body + maxBlockLength);
    const closed = within.indexOf(ends);
    const run = endOfRun(text, body, body + (closed === -1 ? maxBlockLength : closed), blockCharacters);
    this.#blockEnd = Math.max(run, at);
    if (!/[A-WYZa-z0-9+/]{4}/u.test(text.slice(body, run).replace(/^[A-Z -]*-----/u, ""))) return;
    const isClosed = closed !== -1 && run === body + closed;
    // A sentence that only mentions the heading continues on the same line.
    if (!isClosed && !/^[^\n]{0,24}?(?:\n|\\[nr])/u.test(text.slice(body, body + 32))) return;
    const end = isClosed ? endOfLine(text, run + ends.length) : run;
    this.#blockEnd = end;
    this.#found.push({ rule: name, start, end });
  }

  #address({ name, minLength }: Extract<Detector, { kind: "address" }>, at: number): void {
    const end = endOfRun(this.#text, at, at + maxAddressLength, valueCharacters);
    const rest = this.#text.slice(at, end);
    if (rest.length >= minLength && /\d/u.test(rest) && !/x{5}|X{5}/u.test(rest))
      this.#found.push({ rule: name, start: at, end });
  }

  /** Finds a password in a URL: `scheme://user:password@host`. */
  #userinfo(at: number): void {
    const authority = this.#text.slice(
      at,
      endOfRun(this.#text, at, at + maxAddressLength, authorityCharacters),
    );
    const sign = authority.lastIndexOf("@");
    const colon = authority.indexOf(":");
    if (colon === -1 || sign <= colon || sign === authority.length - 1) return;
    if (isPassword(authority.slice(colon + 1, sign)))
      this.#found.push({ rule: "password in an address", start: at + colon + 1, end: at + sign });
  }
}

/** Returns true if the word begins inside another word; in "myToken" a second word begins at the capital. */
function isInsideWord(text: string, start: number): boolean {
  return start > 0 && /[a-z]{2}|[A-Z]{2}|[A-Z][a-z]/u.test(text.slice(start - 1, start + 1));
}

/** Returns the value after a name and an operator, without quotes. `at` is the end of the known part of the name. */
function valueAfter(
  text: string,
  at: number,
): { readonly start: number; readonly end: number; readonly isQuoted: boolean } | null {
  let before = at;
  // "token: string = …" and "name: TOKEN, value: …" have a second operator.
  for (let operators = 0; operators < 2; operators++) {
    const operator = operatorAfter(text, before);
    if (operator === null) return null;
    let start = operator;
    const limit = Math.min(text.length, operator + maxBeforeValue);
    while (start < limit && " \t\r\n\"'`:=>(\\".includes(text[start] ?? "")) start++;
    if (/^(?:bearer|basic|token|api-token) /iu.test(text.slice(start, start + 10)))
      start = text.indexOf(" ", start) + 1;
    const quote = /["'`]/u.test(text[start - 1] ?? "") ? text[start - 1] : undefined;
    let end = endOfRun(text, start, start + maxValueLength + 1, valueCharacters);
    if (quote !== undefined) {
      const closed = text.slice(start, start + maxValueLength + 1).search(/["'`\\\n]/u);
      if (closed > end - start && !/\s/u.test(text.slice(start, start + closed))) end = start + closed;
    } else while (end > start && ".:,!?".includes(text[end - 1] ?? "")) end--;
    const isType = /^[A-Za-z]+$/u.test(text.slice(start, end)) && /^ *=[^=>]/u.test(text.slice(end, end + 8));
    if (end - start >= 6 && text[end] !== "(" && !isType)
      return { start, end, isQuoted: quote !== undefined };
    before = end;
  }
  return null;
}

/** Returns the end of the operator after a name, or null if there is none nearby. */
function operatorAfter(text: string, from: number): number | null {
  const limit = Math.min(text.length, from + maxBeforeOperator);
  const element = /^["']?,?\s+["']?value["']?\s{0,4}[:=]/u.exec(
    text.slice(from, from + 2 * maxBeforeOperator),
  );
  if (element !== null) return from + element[0].length;
  for (let at = from; at < limit; at++) {
    const character = text[at] ?? "";
    if (character === ":" || character === "=" || character === ">") return at + 1;
    if (character === "|" && text[at + 1] === "|") return at + 2;
    // Matches between two quoted arguments, and between the name and the value of an element.
    if (character === "," && /["'`]/u.test(text[at - 1] ?? "")) return at + 1;
    if (!isIn(wordCharacters, text.charCodeAt(at)) && !" \t\"'`.-\\])?".includes(character)) return null;
  }
  return null;
}

function endOfLine(text: string, from: number): number {
  const rest = text.slice(from, from + 64);
  const closed = /-----|["'\n]/u.exec(rest);
  return closed === null ? from + rest.length : from + closed.index + (closed[0] === "-----" ? 5 : 0);
}

/** Returns the findings sorted; overlapping ones are merged under the rule of the first one. */
function apart(found: Finding[]): readonly Finding[] {
  const sorted = found.toSorted((one, other) => one.start - other.start || other.end - one.end);
  const kept: Finding[] = [];
  for (const finding of sorted) {
    const last = kept.at(-1);
    if (last === undefined || finding.start >= last.end) kept.push(finding);
    else if (finding.end > last.end) kept[kept.length - 1] = { ...last, end: finding.end };
  }
  return kept;
}
