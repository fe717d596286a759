import type { RE2JS } from "re2js";
import { compilePattern } from "../base/linear-pattern.ts";
import { type CharacterSet, characterSet } from "./alphabets.ts";
import { KeywordAutomaton } from "./keywords.ts";
import type { Strength } from "./plausible.ts";
import type { SecretRules, TokenRule } from "./rules.ts";

/** What is tried at a keyword. `place`: the number of its rule, under which what it has checked is kept. */
export type Detector = { readonly keyword: string; readonly place: number } & (
  | { readonly kind: "token"; readonly rule: TokenRule; readonly set: CharacterSet }
  | { readonly kind: "named"; readonly name: string; readonly strength: Strength }
  | { readonly kind: "block"; readonly name: string; readonly holds: string; readonly ends: string }
  | { readonly kind: "address"; readonly name: string; readonly minLength: number }
  | { readonly kind: "pattern"; readonly name: string; readonly pattern: RE2JS }
  | { readonly kind: "userinfo" }
);

/** Rules as a scan needs them: prepared once, used for any number of texts at the same time. */
export interface Detectors {
  readonly all: readonly Detector[];
  readonly automaton: KeywordAutomaton;
  /** The number of rules. */
  readonly places: number;
  /** The names that stand in marks. */
  readonly names: ReadonlySet<string>;
}

/** Throws if an alphabet is not known, or a pattern is not valid in RE2. */
export function detectorsOf({ tokens, named, blocks, addresses, patterns = [] }: SecretRules): Detectors {
  const all: Detector[] = [];
  let place = 0;
  for (const rule of tokens) {
    const set = characterSet(rule.alphabet);
    if (set === null) throw new Error(`${rule.name}: unknown alphabet ${rule.alphabet}`);
    for (const keyword of rule.begins) all.push({ kind: "token", keyword, place, rule, set });
    place++;
  }
  for (const [strength, words] of [
    ["strong", named.strong],
    ["weak", named.weak],
    ["service", named.services],
  ] as const)
    for (const word of words)
      for (const keyword of new Set(["", "_", "-", " ", "."].map((joint) => word.replaceAll("_", joint))))
        all.push({
          kind: "named",
          keyword,
          place,
          name: strength === "service" ? "secret" : word.replaceAll("_", " "),
          strength,
        });
  for (const { name, begins, holds, ends } of blocks)
    all.push({ kind: "block", keyword: begins, place, name, holds, ends });
  for (const { name, begins, length } of addresses)
    for (const keyword of begins) all.push({ kind: "address", keyword, place, name, minLength: length });
  all.push({ kind: "userinfo", keyword: "://", place });
  place++;
  for (const { name, keywords, pattern: written } of patterns) {
    const pattern = compilePattern(written);
    for (const keyword of keywords) all.push({ kind: "pattern", keyword, place, name, pattern });
    place++;
  }
  const names = all.map((each) => (each.kind === "token" ? each.rule.name : "name" in each ? each.name : ""));
  return {
    all,
    automaton: new KeywordAutomaton(all.map(({ keyword }) => keyword)),
    places: place,
    names: new Set(["password in an address", "stored secret", ...names]),
  };
}
