import type { Entry, Process } from "../base/vocabulary/conversation.ts";
import { buildContext } from "../context/context.ts";
import type { ContextPrefix } from "../context/prefix.ts";
import type { ContextTail } from "./context-tail.ts";

/**
 * Returns an estimate of the tokens of a context that begins again with `next`. `counted`: the provider's count of the
 * context before; 0 without one. The estimate is scaled to it, because otherwise a summary could seem to make the
 * context larger.
 */
export function tokensAfter(
  process: Process,
  { prefix, entries }: ContextTail,
  next: ContextPrefix,
  counted: number,
): number {
  const after = estimateOf(
    process,
    next,
    entries.filter(({ seq }) => seq > next.after),
  );
  const before = estimateOf(process, prefix, entries);
  return counted > 0 && before > 0 ? Math.ceil((after * counted) / before) : after;
}

function estimateOf({ id, model = "" }: Process, prefix: ContextPrefix, entries: readonly Entry[]): number {
  // The provider's count is left out.
  return buildContext({ prefix, entries, process: id, model, prefixSeq: Number.MAX_SAFE_INTEGER }).tokens;
}
