import { endedStates, type Process } from "../base/vocabulary/conversation.ts";

/** Compactions that ended without a summary since the last summary was written. */
export interface FailedCompactions {
  readonly count: number;
  /** When the last of them ended; empty if none did. */
  readonly last: string;
}

export const noneFailed: FailedCompactions = { count: 0, last: "" };

/** Returns the count with a process's entry, each compaction once. `processes`: as they were before the entry. */
export function countedWith(
  { id, kind, state, ended = "" }: Process,
  before: { readonly failedCompactions: FailedCompactions; readonly processes: readonly Process[] },
): FailedCompactions {
  const { failedCompactions: failed, processes } = before;
  if (kind !== "compaction" || (state !== "Failed" && state !== "Cancelled")) return failed;
  const isCounted = processes.some((known) => known.id === id && endedStates.has(known.state));
  return isCounted ? failed : { count: failed.count + 1, last: ended };
}
