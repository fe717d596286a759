import type { PatternRule } from "./rules.ts";
import { SecretScanner } from "./scanner.ts";
import { shippedRules } from "./shipped-rules.ts";

let shipped: SecretScanner | undefined;
/** The scanner with the rules that a person added last. */
let extended:
  | { readonly patterns: readonly PatternRule[]; readonly text: string; readonly scanner: SecretScanner }
  | undefined;

/** The scanner with the rules that ship; made when it is first needed. */
export function shippedScanner(): SecretScanner {
  return (shipped ??= new SecretScanner(shippedRules));
}

/** Returns the scanner with these rules beside those that ship. Keeps the one for the last rules. */
export function scannerWith(patterns: readonly PatternRule[]): SecretScanner {
  if (patterns.length === 0) return shippedScanner();
  if (extended?.patterns === patterns) return extended.scanner;
  const text = JSON.stringify(patterns);
  const scanner =
    extended?.text === text ? extended.scanner : new SecretScanner({ ...shippedRules, patterns });
  extended = { patterns, text, scanner };
  return scanner;
}

/** Returns a text for traces, in which each secret is `[redacted: rule]`. */
export function redactSecrets(text: string, patterns: readonly PatternRule[] = []): string {
  return scannerWith(patterns).replace(text, (rule) => `[redacted: ${rule}]`);
}
