/**
 * Finds regular expressions that take more than linear time for some text: by analysis, which knows runs of one
 * character, and by counting the steps for texts that are made from the expression itself.
 */
import { type AST, visitRegExpAST } from "@eslint-community/regexpp";
import { parse } from "acorn";
import { transformSync } from "esbuild";
import { analyse } from "scslre";
import { charactersOf, Search } from "./regex-steps.ts";

interface Literal {
  readonly source: string;
  readonly flags: string;
}

/** Returns the literals in a file of TypeScript. */
export function literalsIn(text: string, path: string): Literal[] {
  const loader = path.endsWith("x") ? "tsx" : "ts";
  const { code } = transformSync(text, { loader, format: "esm", target: "esnext" });
  const found: Literal[] = [];
  // Only a parser can tell a literal from a division.
  parse(code, {
    ecmaVersion: "latest",
    sourceType: "module",
    onToken: (token) => {
      if (token.type.label !== "regexp") return;
      // The types leave out what a token holds.
      const { pattern, flags } = (token as unknown as { value: { pattern: string; flags: string } }).value;
      found.push({ source: pattern, flags });
    },
  });
  return found;
}

/** Returns why a search takes more than linear time; null if nothing was found. */
export function whySlow(literal: Literal): string | null {
  const [report] = analyse(literal, { maxReports: 1 }).reports;
  return report === undefined ? slowText(literal) : `${JSON.stringify(report.character.pick)} repeated`;
}

/** A text repeats its pump at least this often, and is at least this long. */
const minPumps = 20;
const minLength = 96;
/** A search with so few steps for each character has not tried each pair of characters. */
const fewSteps = 6;
/** Twice the length takes twice the steps in linear time, and four times as many in quadratic time. */
const maxGrowth = 3;
/** More than any linear search here takes for each character. */
const manySteps = 5_000;
/** Ends that let a match fail: no pattern allows each of them, and `.` allows no end of a line. */
const ends = ["", "!", "\n", "\u2028\\"];

function slowText(literal: Literal): string | null {
  const { pattern } = analyse(literal, { maxReports: 0 }).parsed;
  const bounds: number[] = [];
  visitRegExpAST(pattern, { onQuantifierEnter: ({ max }) => void bounds.push(max) });
  if (!bounds.some((max) => max > maxShort)) return null;
  // A bounded repetition looks quadratic in a text that is shorter than the bound.
  const longest = Math.max(...bounds.filter((max) => max < 1_000), 0);
  const search = new Search(pattern, literal.flags);
  for (const [beginning, pump] of pumpsOf(pattern, literal.flags)) {
    const count = Math.ceil(Math.max(minLength, longest * 2, minPumps * pump.length) / pump.length);
    const length = count * pump.length;
    for (const end of ends) {
      const steps = (times: number): number =>
        search.stepsIn(beginning + pump.repeat(times) + end, manySteps * length) ?? Number.POSITIVE_INFINITY;
      const less = steps(count);
      if (less <= fewSteps * length) continue;
      if (less === Number.POSITIVE_INFINITY || steps(2 * count) > maxGrowth * less)
        return [beginning, pump, end].map((text) => JSON.stringify(text)).join(", ");
    }
  }
  return null;
}

/** Repetitions up to this count cost a constant. */
const maxShort = 20;

/** Returns texts to repeat, each with its prefix: samples of what the pattern's parts match, in order. */
function pumpsOf(pattern: AST.Pattern, flags: string): [beginning: string, pump: string][] {
  const own: string[] = [];
  visitRegExpAST(pattern, { onCharacterEnter: ({ value }) => void own.push(String.fromCodePoint(value)) });
  const pumps = new Set<string>();
  const beginnings = new Set([""]);
  // Where any character may stand, the most harmful one is a sign that the pattern itself names.
  own.sort((one, other) => Number(/\w/.test(one)) - Number(/\w/.test(other)));
  for (const samples of [new Samples(flags, usual), new Samples(flags, [...own, ...usual])])
    visitRegExpAST(pattern, {
      onAlternativeEnter: ({ elements, parent }) => {
        const parts = partsOf(elements, samples);
        const joined = (from: number, to: number): string =>
          parts
            .slice(from, to)
            .map(({ text }) => text)
            .join("");
        for (let from = 0; from < parts.length; from++) {
          for (let to = from + 1; to <= parts.length; to++) pumps.add(joined(from, to));
          if (parent.type === "Pattern" && parts[from]?.isPlain === false) beginnings.add(joined(0, from));
        }
      },
    });
  pumps.delete("");
  // The rest of many are alike.
  const some = [...pumps].toSorted((one, other) => one.length - other.length).slice(0, maxPumps);
  return [...beginnings]
    .slice(0, maxBeginnings)
    .flatMap((beginning) => some.map((pump): [string, string] => [beginning, pump]));
}

const maxPumps = 24;
const maxBeginnings = 2;

/** Characters that follow each other are one part: the analysis knows the rest of what they can do. */
function partsOf(elements: readonly AST.Element[], samples: Samples): { text: string; isPlain: boolean }[] {
  const parts: { text: string; isPlain: boolean }[] = [];
  for (const element of elements) {
    const isPlain = element.type === "Character" || element.type === "Assertion";
    const last = parts.at(-1);
    if (isPlain && last?.isPlain === true) last.text += samples.of(element);
    else parts.push({ text: samples.of(element), isPlain });
  }
  return parts;
}

/** Letters first, so that neighbours that may match the same are shown by the same. */
const usual = Array.from(
  "a1 \t-_.\n/\\\"'`:;,#*=<>()[]{}!?@$%&+~^|xZé“«。中\u0300\u{1f600}\u{1f1e6}\r\u2028\0",
);

/** A part is shown by a text that it matches. */
class Samples {
  readonly #is: (raw: string, character: string) => boolean;
  readonly #characters: readonly string[];

  constructor(flags: string, characters: readonly string[]) {
    this.#is = charactersOf(flags);
    this.#characters = characters;
  }

  of(element: AST.Element): string {
    switch (element.type) {
      case "Group":
      case "CapturingGroup":
        return element.alternatives[0]?.elements.map((each) => this.of(each)).join("") ?? "";
      case "Quantifier":
        return this.of(element.element).repeat(Math.min(Math.max(element.min, 1), 8));
      case "Assertion":
      case "Backreference":
        return "";
      case "Character":
        return String.fromCodePoint(element.value);
      case "CharacterClass":
      case "CharacterSet":
      case "ExpressionCharacterClass":
        return this.#characters.find((character) => this.#is(element.raw, character)) ?? "";
    }
  }
}
