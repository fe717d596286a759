import { SecretScanner } from "./scanner.ts";
import { shippedRules } from "./shipped-rules.ts";

let scanner: SecretScanner | undefined;

/** The scanner with the rules that ship; made when it is first needed. */
export function shippedScanner(): SecretScanner {
  return (scanner ??= new SecretScanner(shippedRules));
}

/** Returns a text for traces, in which each secret is `[redacted: rule]`. */
export function redactSecrets(text: string): string {
  return shippedScanner().replace(text, (rule) => `[redacted: ${rule}]`);
}
