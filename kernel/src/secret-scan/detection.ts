import { isIn, setOf, valueCharacters, wordCharacters, type CharacterSet } from "./alphabets.ts";
import type { Detector, Detectors } from "./detectors.ts";
import {
  entropy,
  isPassword,
  isPlausible,
  isVaried,
  maxValueLength,
  placeholderIn,
  type Profile,
  profileOf,
} from "./plausible.ts";
import { maxPatternMatch, patternWindow, type TokenRule } from "./rules.ts";
import { valueAfter } from "./value-after.ts";
import { View } from "./view.ts";

/** A secret in a text: UTF-16 positions, `end` exclusive. */
export interface Finding {
  /** The name of the rule, for people. */
  readonly rule: string;
  readonly start: number;
  readonly end: number;
}

/** A finding whose end is not known yet, because the text so far ends within it. */
type Growth =
  | { readonly kind: "run"; readonly set: CharacterSet }
  | { readonly kind: "block"; readonly ends: string; readonly limit: number };

export interface Found extends Finding {
  /** Among findings with one start, the one with the longest keyword gives the name. */
  readonly weight: number;
  readonly grows?: Growth;
}

type Of<Kind extends Detector["kind"]> = Extract<Detector, { readonly kind: Kind }>;

const maxAddressLength = 400;
/** Characters by which a token without an upper bound, and a block, are judged; what follows only belongs to them. */
const judgedTokenLength = 3_500;
const judgedBlockLength = 3_500;
/** Maximum characters of a block without an end line. */
const maxBlockLength = 64 * 1024;
const noValue = { start: 0, end: -1, profile: { digits: 0, turns: 0 } };
const markBegins = "[secret: ";
const maxMarkLength = 70;
const maxHeadingLength = 64;
const maxEndLineLength = 64;
/** A heading's own line ends within so many characters, a line break that is written as \n included. */
const maxBeforeLineBreak = 26;
/** Minimum entropy of a token; below it is a placeholder such as "ghp_xxxxxxxxxxxx". */
const minEntropy = 2.3;

const authorityCharacters: CharacterSet = valueCharacters.with("/".charCodeAt(0), 0);
const blockCharacters: CharacterSet = setOf(
  "+/=:,.\\\"'-_ \t\r\n[]0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
);

/**
 * Tries detectors at keywords, in the order in which these end. What it finds depends on at most 4,096 characters from a
 * keyword's beginning on, and on one before it. A detector that had to look beyond the end of a text which is not
 * complete is undecided, and is tried again with more of it.
 */
export class Detection {
  readonly #view = new View();
  /** For each rule: no other keyword of it is tried before this place. */
  #judged: Int32Array;
  /** The last finding: what lies within it is not looked at again. */
  #covered: Finding = { rule: "", start: 0, end: 0 };
  /** A placeholder in the value that ends there: what begins before it and ends there is no secret either. */
  #placeholder = { at: -1, end: -1 };
  /** The value that was looked at last. */
  #value: {
    readonly start: number;
    readonly end: number;
    readonly profile: Pick<Profile, "digits" | "turns">;
  } = noValue;
  #isComplete = true;
  readonly #names: ReadonlySet<string>;

  constructor({ places, names }: Pick<Detectors, "places" | "names">) {
    this.#judged = new Int32Array(places);
    this.#names = names;
  }

  /** The text from now on. Places stay as they are; `isComplete`: nothing follows. */
  look(text: string, isComplete: boolean): void {
    this.#view.text = text;
    this.#placeholder = { at: -1, end: -1 };
    this.#value = noValue;
    this.#isComplete = isComplete;
  }

  /** Runs the work as if nothing followed the text, and forgets what it has checked. */
  tentatively<Result>(work: () => Result): Result {
    const [judged, covered, isComplete] = [this.#judged, this.#covered, this.#isComplete];
    this.#judged = judged.slice();
    this.#isComplete = true;
    try {
      return work();
    } finally {
      this.#judged = judged;
      this.#covered = covered;
      this.#isComplete = isComplete;
    }
  }

  /** The text loses this many characters at its beginning. */
  shift(characters: number): void {
    this.#judged = this.#judged.map((place) => Math.max(0, place - characters));
    const { rule, start, end } = this.#covered;
    this.#covered = { rule, start: Math.max(0, start - characters), end: Math.max(0, end - characters) };
  }

  /** `at`: the end of the keyword. Returns "undecided" if more of the text is needed. */
  detect(detector: Detector, at: number): Found | null | "undecided" {
    this.#view.reach = 0;
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
        return this.#userinfo(detector, at);
      case "pattern":
        return this.#pattern(detector, at);
    }
  }

  /** Returns how far a finding reaches by now, and how it still grows. */
  grow({ end, grows }: Found): { readonly end: number; readonly grows?: Growth } {
    if (grows === undefined) return { end };
    return grows.kind === "run" ? this.#growRun(end, grows) : this.#growBlock(end, grows);
  }

  #token({ rule, keyword, place, set }: Of<"token">, at: number): Found | null | "undecided" {
    const { text } = this.#view;
    const start = at - keyword.length;
    const isWord = keyword.endsWith(" ");
    if (!isWord && !text.startsWith(keyword, start)) return null;
    if (rule.glued !== true && start > 0 && isIn(wordCharacters, text.charCodeAt(start - 1))) return null;
    if (start < (this.#judged[place] ?? 0)) return null;
    const [least, most] = rule.length;
    const end = this.#view.endOfRun(at, at + (most === undefined ? judgedTokenLength : most + 1), set);
    if (this.#isUndecided()) return "undecided";
    if (end - at < least || end - at > (most ?? Infinity) || this.#covers(start, end)) return null;
    // Other beginnings within this run would be judged by the same characters.
    this.#judged[place] = end;
    if (!isToken(text.slice(at, end), rule, end - at === judgedTokenLength)) return null;
    const found = { rule: rule.name, start: isWord ? at : start, weight: keyword.length };
    return this.#found(
      most === undefined ? { ...found, ...this.#growRun(end, { kind: "run", set }) } : { ...found, end },
    );
  }

  #named({ name, keyword, strength }: Of<"named">, at: number): Found | null | "undecided" {
    const view = this.#view;
    // The name of a service does not count inside another word.
    if (strength === "service" && isInsideWord(view.text, at - keyword.length)) return null;
    const value = valueAfter(view, at);
    if (view.text.startsWith(markBegins, at - keyword.length - 1))
      view.reached(at - keyword.length + markBegins.length + maxMarkLength);
    if (this.#isUndecided()) return "undecided";
    if (value === null) return null;
    const { start, end, isQuoted } = value;
    if (this.#covers(start, end) || end - start > maxValueLength) return null;
    const known = this.#value;
    if (end === known.end && start >= known.start && !isVaried(known.profile, strength)) return null;
    if (end === this.#placeholder.end && start <= this.#placeholder.at) return null;
    const secret = view.text.slice(start, end);
    // A value that contains its own name is a label: `alt="1Password"`.
    if (secret.toLowerCase().includes(keyword)) return null;
    const profile = profileOf(secret);
    this.#value = { start, end, profile };
    if (!isPlausible(secret, profile, strength, isQuoted)) return null;
    const placeholder = placeholderIn(secret);
    if (placeholder !== -1) {
      this.#placeholder = { at: start + placeholder, end };
      return null;
    }
    if (this.#isMark(at - keyword.length)) return null;
    return this.#found({ rule: name, start, end, weight: 0 });
  }

  /** True within "[secret: 1password key]", which a text has that was redacted before. */
  #isMark(at: number): boolean {
    const { text } = this.#view;
    if (!text.startsWith(markBegins, at - 1)) return false;
    const from = at - 1 + markBegins.length;
    const name = text.slice(from, from + maxMarkLength);
    return this.#names.has(name.slice(0, name.indexOf("]")));
  }

  #block({ name, keyword, place, holds, ends }: Of<"block">, at: number): Found | null | "undecided" {
    const view = this.#view;
    const { text } = view;
    const start = at - keyword.length;
    if (start < (this.#judged[place] ?? 0) || !text.startsWith(keyword, start)) return null;
    const heading = text.slice(at, at + maxHeadingLength);
    const held = heading.indexOf(holds);
    const broken = heading.search(/[\n"'`]/u);
    if (held === -1) {
      if (broken === -1) view.reached(at + maxHeadingLength);
      return this.#isUndecided() ? "undecided" : null;
    }
    if (broken !== -1 && broken < held) return null;
    const body = at + held + holds.length;
    const walked = this.#walkBlock(body, body + judgedBlockLength, ends);
    if (walked.state !== "closed") view.reached(body + maxBeforeLineBreak);
    if (this.#isUndecided()) return "undecided";
    const sample = text.slice(body, walked.end);
    const hasKey = /[A-WYZa-z0-9+/]{4}/u.test(sample.replace(/^[A-Z -]*-----/u, ""));
    // A sentence that only mentions the heading continues on the same line.
    const isKey =
      hasKey &&
      (walked.state === "closed" ||
        /^[^\n]{0,24}?(?:\n|\\[nr])/u.test(text.slice(body, body + maxBeforeLineBreak)));
    this.#judged[place] = walked.end;
    if (!isKey) return null;
    const growth = { kind: "block" as const, ends, limit: body + maxBlockLength };
    const isWhole = walked.state === "closed" || walked.state === "stopped";
    const grown = isWhole ? { end: walked.end } : this.#growBlock(walked.end, growth);
    this.#judged[place] = grown.end;
    return this.#found({ rule: name, start, weight: keyword.length, ...grown });
  }

  #address({ name, minLength, keyword }: Of<"address">, at: number): Found | null | "undecided" {
    const end = this.#view.endOfRun(at, at + maxAddressLength, valueCharacters);
    if (this.#isUndecided()) return "undecided";
    if (end - at < minLength || this.#covers(at, end)) return null;
    const rest = this.#view.text.slice(at, end);
    if (!/\d/u.test(rest) || /x{5}|X{5}/u.test(rest)) return null;
    return this.#found({ rule: name, start: at, end, weight: keyword.length });
  }

  /** Finds a password in a URL: `scheme://user:password@host`. */
  #userinfo({ keyword }: Of<"userinfo">, at: number): Found | null | "undecided" {
    const end = this.#view.endOfRun(at, at + maxAddressLength, authorityCharacters);
    if (this.#isUndecided()) return "undecided";
    const authority = this.#view.text.slice(at, end);
    const sign = authority.lastIndexOf("@");
    const colon = authority.indexOf(":");
    if (colon === -1 || sign <= colon || sign === authority.length - 1) return null;
    if (!isPassword(authority.slice(colon + 1, sign))) return null;
    return this.#found({
      rule: "password in an address",
      start: at + colon + 1,
      end: at + sign,
      weight: keyword.length,
    });
  }

  #pattern({ name, keyword, place, pattern }: Of<"pattern">, at: number): Found | null | "undecided" {
    const view = this.#view;
    const start = at - keyword.length;
    if (start < (this.#judged[place] ?? 0)) return null;
    view.reached(start + patternWindow);
    if (this.#isUndecided()) return "undecided";
    const matcher = pattern.matcher(view.text.slice(start, start + patternWindow));
    if (!matcher.find()) {
      // A match that begins before this place would have been within the window.
      this.#judged[place] = start + patternWindow - maxPatternMatch;
      return null;
    }
    const end = start + matcher.end();
    this.#judged[place] = Math.max(end, start + 1);
    if (matcher.end() === matcher.start()) return null;
    return this.#found({ rule: name, start: start + matcher.start(), end, weight: keyword.length });
  }

  #growRun(from: number, growth: Extract<Growth, { kind: "run" }>): { end: number; grows?: Growth } {
    const end = this.#view.endOfRun(from, Number.POSITIVE_INFINITY, growth.set);
    return end === this.#view.text.length && !this.#isComplete ? { end, grows: growth } : { end };
  }

  #growBlock(from: number, growth: Extract<Growth, { kind: "block" }>): { end: number; grows?: Growth } {
    const { end, state } = this.#walkBlock(from, growth.limit, growth.ends);
    if (state === "at its limit") return { end: growth.limit };
    return state === "open" ? { end, grows: growth } : { end };
  }

  /**
   * Walks over the characters of a block up to its end line, which belongs to it. "open": the text so far ends within it,
   * and what may be the beginning of an end line is left out.
   */
  #walkBlock(
    from: number,
    limit: number,
    ends: string,
  ): { readonly end: number; readonly state: "closed" | "stopped" | "at its limit" | "open" } {
    const view = this.#view;
    const { text } = view;
    const run = view.endOfRun(from, limit, blockCharacters);
    const closed = text.slice(from, run).indexOf(ends);
    if (closed !== -1) {
      const place = from + closed + ends.length;
      const rest = text.slice(place, place + maxEndLineLength);
      const found = /-----|["'\n]/u.exec(rest);
      // The run was looked at no further than to its end line.
      view.reach = Math.min(view.reach, text.length);
      if (found === null && rest.length < maxEndLineLength && !this.#isComplete) {
        view.reached(text.length + 1);
        return { end: from + closed, state: "open" };
      }
      const length = found === null ? rest.length : found.index + (found[0] === "-----" ? 5 : 0);
      return { end: place + length, state: "closed" };
    }
    if (run < limit && (run < text.length || this.#isComplete)) return { end: run, state: "stopped" };
    let end = run;
    for (let length = Math.min(ends.length - 1, run - from); length > 0; length--)
      if (ends.startsWith(text.slice(run - length, run))) {
        end = run - length;
        break;
      }
    return { end, state: run >= limit ? "at its limit" : "open" };
  }

  #isUndecided(): boolean {
    return !this.#isComplete && this.#view.reach > this.#view.text.length;
  }

  #covers(start: number, end: number): boolean {
    return start >= this.#covered.start && end <= this.#covered.end;
  }

  #found(found: Found): Found {
    if (found.end > this.#covered.end) this.#covered = found;
    return found;
  }
}

/** `isCut`: more of it follows, so that its last dot may not have come. */
function isToken(body: string, { plain, dots }: TokenRule, isCut: boolean): boolean {
  if (plain !== true && !/\d/u.test(body)) return false;
  if (dots !== undefined) {
    const parts = body.split(".").filter((part) => part.length > 3).length;
    if (parts < (isCut ? dots : dots + 1)) return false;
  }
  return entropy(body) >= minEntropy && !/x{5}|X{5}|EXAMPLE(?:_|KEY|$)|\*{4}/u.test(body);
}

/** Returns true if the word begins inside another word; in "myToken" a second word begins at the capital. */
function isInsideWord(text: string, start: number): boolean {
  if (start === 0) return false;
  const before = text.charCodeAt(start - 1);
  const first = text.charCodeAt(start);
  const isLower = (code: number): boolean => code >= 97 && code <= 122;
  const isUpper = (code: number): boolean => code >= 65 && code <= 90;
  return (isLower(before) && isLower(first)) || (isUpper(before) && (isUpper(first) || isLower(first)));
}
