import { isSpoken } from "./turns.ts";
import type { Entry } from "../base/vocabulary/conversation.ts";
import type { AtWork, ProcessHost } from "./host.ts";
import { isProcessTool } from "./process-tools.ts";

/** Turns of a worker in which an answer without a call is not yet taken for its report. */
const nudgedTurns = 2;
export const nudge = "Please proceed and use the available tools.";

/** Requests and voids of a process that are looked at, the newest ones. `max_turns` is at most 1,000. */
const lookedAt = 10_000;

/**
 * Returns how many requests in a row a process has made that were answered, also for earlier kernels: a channel in its
 * present turn, an interactive worker since its last report, others since they were started.
 */
export async function requestsMade(
  { ports, log }: Pick<ProcessHost, "ports" | "log">,
  { record: { id, kind, interactive }, tail }: Pick<AtWork, "record" | "tail">,
  turn: string,
): Promise<number> {
  // A cut falls between turns of a channel, but within the only one of any other process.
  const entries =
    kind === "channel"
      ? turnOf(tail?.entries ?? [], turn)
      : await ports.reader.entries(log.id, {
          process: id,
          kinds: ["request", "void", ...(interactive === true ? ["conclusion"] : [])],
          limit: lookedAt,
          newest: true,
        });
  return countOf(entries.slice(entries.findLastIndex((entry) => entry.kind === "conclusion") + 1), id);
}

/** Returns the entries of a turn of a channel; it begins with the entry that has its id. */
function turnOf(entries: readonly Entry[], turn: string): readonly Entry[] {
  const begins = entries.findLastIndex(({ id }) => id === turn);
  return entries.slice(Math.max(begins, 0)).filter((entry) => entry.turn === turn || entry.kind === "void");
}

function countOf(entries: readonly Entry[], process: string): number {
  const made = new Set<string>();
  for (const entry of entries) {
    // Further attempts have the id of the same answer.
    if (entry.kind === "request" && entry.process === process) made.add(entry.message);
    else if (entry.kind === "void") made.delete(entry.message);
  }
  return made.size;
}

/** True for an answer of a worker that has done nothing yet, unless it was told so before, also by an earlier kernel. */
export function isNudged({ record, tail }: Pick<AtWork, "record" | "tail">, turn: number): boolean {
  if (record.kind !== "worker" || turn > nudgedTurns || tail === null) return false;
  // What answers a follow-up may need no tool.
  const isAskedFurther =
    tail.prefix.summaries.length > 0 || tail.entries.filter((entry) => isSpoken(entry, record)).length > 1;
  if (record.interactive === true && isAskedFurther) return false;
  if (!tail.prefix.tools.some(({ name }) => !isProcessTool(name))) return false;
  return !tail.entries.some((entry) => entry.kind === "tool_call" || isNudge(entry));
}

function isNudge(entry: Entry): boolean {
  if (entry.kind !== "message" || entry.role !== "user" || entry.origin !== "kernel") return false;
  return entry.parts.some((part) => part.type === "text" && part.text === nudge);
}
