/**
 * Counts the steps of a backtracking search, as JavaScript's engines do it: a count does not depend on how busy the
 * machine is, and short texts show how it grows.
 */
import type { AST } from "@eslint-community/regexpp";

/** Continues behind a part of the pattern; returns true if the rest matches. */
type Go = (at: number) => boolean;
type Direction = 1 | -1;
/** The end of a search that is far beyond linear. */
class TooManySteps extends Error {}

/** Returns a function that tells whether a text is matched by a part of a pattern that matches one character. */
export function charactersOf(flags: string): (raw: string, character: string) => boolean {
  const kept = flags.replace(/[^iusv]/g, "");
  const known = new Map<string, { readonly pattern: RegExp; readonly answers: Map<string, boolean> }>();
  return (raw, character) => {
    let entry = known.get(raw);
    if (entry === undefined)
      known.set(raw, (entry = { pattern: new RegExp(`^(?:${raw})$`, kept), answers: new Map() }));
    const { pattern, answers } = entry;
    let answer = answers.get(character);
    if (answer === undefined) answers.set(character, (answer = pattern.test(character)));
    return answer;
  };
}

/** Searches texts for a pattern; `stepsIn` returns null if there are more than `most` steps. */
export class Search {
  readonly #pattern: AST.Pattern;
  readonly #flags: string;
  readonly #is: (raw: string, character: string) => boolean;
  #text = "";
  #steps = 0;
  #most = 0;
  #groups = new Map<AST.CapturingGroup, string>();

  constructor(pattern: AST.Pattern, flags: string) {
    this.#pattern = pattern;
    this.#flags = flags;
    this.#is = charactersOf(flags);
  }

  stepsIn(text: string, most: number): number | null {
    this.#text = text;
    this.#steps = 0;
    this.#most = most;
    try {
      for (let start = 0; start <= text.length;) {
        this.#groups = new Map();
        let end = -1;
        const isFound = this.#either(this.#pattern.alternatives, start, 1, (at) => {
          end = at;
          return true;
        });
        if (this.#flags.includes("y") && !isFound) break;
        if (isFound && !this.#flags.includes("g")) break;
        start = isFound && end > start ? end : start + 1;
      }
    } catch (error) {
      if (error instanceof TooManySteps) return null;
      throw error;
    }
    return this.#steps;
  }

  #step(): void {
    if (++this.#steps > this.#most) throw new TooManySteps();
  }

  #either(alternatives: readonly AST.Alternative[], at: number, direction: Direction, next: Go): boolean {
    return alternatives.some(({ elements }) => this.#each(elements, 0, at, direction, next));
  }

  #each(
    elements: readonly AST.Element[],
    index: number,
    at: number,
    direction: Direction,
    next: Go,
  ): boolean {
    const element = elements[direction > 0 ? index : elements.length - 1 - index];
    if (element === undefined) return next(at);
    return this.#one(element, at, direction, (end) => this.#each(elements, index + 1, end, direction, next));
  }

  #one(element: AST.Element, at: number, direction: Direction, next: Go): boolean {
    this.#step();
    switch (element.type) {
      case "Group":
        return this.#either(element.alternatives, at, direction, next);
      case "CapturingGroup":
        return this.#either(element.alternatives, at, direction, (end) => {
          const before = this.#groups.get(element) ?? "";
          this.#groups.set(element, this.#text.slice(Math.min(at, end), Math.max(at, end)));
          if (next(end)) return true;
          this.#groups.set(element, before);
          return false;
        });
      case "Quantifier":
        return this.#repeated(element, at, direction, next);
      case "Assertion":
        return this.#holds(element, at) && next(at);
      case "Backreference": {
        const group = Array.isArray(element.resolved) ? element.resolved[0] : element.resolved;
        const said = (group === undefined ? undefined : this.#groups.get(group)) ?? "";
        const end = at + direction * said.length;
        return this.#text.slice(Math.min(at, end), Math.max(at, end)) === said && next(end);
      }
      case "Character":
      case "CharacterClass":
      case "CharacterSet":
      case "ExpressionCharacterClass": {
        const end = this.#behind(element, at, direction);
        return end !== -1 && next(end);
      }
    }
  }

  /** Returns the place behind one character; -1 if there is another one. */
  #behind({ raw }: AST.Element, at: number, direction: Direction): number {
    const length = this.#lengthAt(at, direction);
    const end = at + direction * length;
    const character = this.#text.slice(Math.min(at, end), Math.max(at, end));
    return length > 0 && this.#is(raw, character) ? end : -1;
  }

  #lengthAt(at: number, direction: Direction): number {
    const left = direction > 0 ? this.#text.length - at : at;
    if (left < 2 || !/[uv]/.test(this.#flags)) return Math.min(left, 1);
    return (this.#text.codePointAt(direction > 0 ? at : at - 2) ?? 0) > 0xffff ? 2 : 1;
  }

  #repeated(quantifier: AST.Quantifier, at: number, direction: Direction, next: Go): boolean {
    const { min, max, greedy, element } = quantifier;
    if (greedy && isCharacter(element)) {
      // A loop, so that a long run needs no deep stack.
      const ends = [at];
      for (let end = at; ends.length <= max;) {
        this.#step();
        end = this.#behind(element, end, direction);
        if (end === -1) break;
        ends.push(end);
      }
      for (let count = ends.length - 1; count >= min; count--) {
        this.#step();
        if (next(ends[count] ?? at)) return true;
      }
      return false;
    }
    const from = (place: number, count: number): boolean => {
      this.#step();
      const more = (): boolean =>
        count < max &&
        this.#one(element, place, direction, (end) =>
          end === place && count >= min ? false : from(end, count + 1),
        );
      if (count < min) return more();
      return greedy ? more() || next(place) : next(place) || more();
    };
    return from(at, 0);
  }

  #holds(assertion: AST.Assertion, at: number): boolean {
    const text = this.#text;
    const isLineBreak = (place: number): boolean => /[\n\r\u2028\u2029]/.test(text.charAt(place));
    const isWord = (place: number): boolean => /\w/.test(text.charAt(place));
    const isByLine = this.#flags.includes("m");
    switch (assertion.kind) {
      case "start":
        return at === 0 || (isByLine && isLineBreak(at - 1));
      case "end":
        return at === text.length || (isByLine && isLineBreak(at));
      case "word":
        return (isWord(at - 1) !== isWord(at)) !== assertion.negate;
      case "lookahead":
      case "lookbehind": {
        const direction = assertion.kind === "lookahead" ? 1 : -1;
        return this.#either(assertion.alternatives, at, direction, () => true) !== assertion.negate;
      }
    }
  }
}

function isCharacter(element: AST.Element): boolean {
  return /^(?:Character|CharacterSet|CharacterClass|ExpressionCharacterClass)$/.test(element.type);
}
