import { Detection, type Finding, type Found } from "./detection.ts";
import { type Detectors, detectorsOf } from "./detectors.ts";
import { apart } from "./findings.ts";
import type { SecretRules } from "./rules.ts";
import { StreamRedactor } from "./stream.ts";

/**
 * Finds secrets in untrusted texts: by the prefix of a token, by the name before a value, by the lines around a key.
 * Takes one look-up per character, and more only at keywords; the time is linear in the length of the text.
 */
export class SecretScanner {
  readonly #detectors: Detectors;

  /** Throws if a pattern is not valid in RE2. */
  constructor(rules: SecretRules) {
    this.#detectors = detectorsOf(rules);
  }

  /** Returns the findings in text order, without overlaps. */
  find(text: string): readonly Finding[] {
    const { all, automaton } = this.#detectors;
    const found: Found[] = [];
    let detection: Detection | null = null;
    automaton.scan(text, 0, 0, (keyword, end) => {
      const detector = all[keyword];
      if (detector === undefined) return;
      if (detection === null) {
        detection = new Detection(this.#detectors);
        detection.look(text, true);
      }
      const outcome = detection.detect(detector, end);
      if (outcome !== null && outcome !== "undecided") found.push(outcome);
    });
    return found.length === 0 ? found : apart(found);
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

  /** Returns what does the same with a text that comes in pieces. */
  stream(mark: (rule: string) => string): StreamRedactor {
    return new StreamRedactor(this.#detectors, mark);
  }
}
