import { startOf } from "../base/vocabulary/ask-arguments.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { ProcessPrincipal } from "../base/vocabulary/principal.ts";
import { sha256 } from "../platform/files/hash.ts";

/**
 * Returns the fact by which questions about different calls differ, whatever of their arguments is shown: one answer must not
 * count for two calls that only look the same. Not of canonical JSON, which cannot hold all arguments.
 */
export function callFact(
  { agent, conversation }: Pick<ProcessPrincipal, "agent" | "conversation">,
  tool: string,
  args: unknown,
): { readonly call_digest: Hash } {
  const given = args === undefined ? [] : [args];
  return { call_digest: sha256(JSON.stringify([agent, conversation, tool, ...given])) };
}

/** Returns a call's arguments as a text for a question's facts, and how many characters were left out if there were more. */
export function argumentsFact(
  args: unknown,
  most: number,
): { readonly arguments: string; readonly arguments_left_out?: number } {
  const text = JSON.stringify(args) ?? "";
  const shown = startOf(text, most);
  const left = text.length - shown.length;
  return { arguments: shown, ...(left === 0 ? {} : { arguments_left_out: left }) };
}
