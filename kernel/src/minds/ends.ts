import { type Clock, isoTime } from "../base/clock.ts";
import type { Process } from "../base/vocabulary/conversation.ts";
import type { ConversationState } from "../conversations/fold.ts";
import type { NewEntry } from "../conversations/records.ts";
import { voidEntry } from "./answer-writer.ts";
import { entryOf, type EntryMaker, processEntry } from "./entries.ts";
import { asError } from "./host.ts";
import { stopError } from "./stop-tree.ts";

type Open = Pick<ConversationState, "calls" | "requests" | "partial">;

/** Returns results for the calls of a process that will not be run. */
export function unansweredCalls({ calls }: Open, maker: EntryMaker, message: string): NewEntry[] {
  return calls
    .filter(({ process }) => process === maker.process)
    .map(({ call }) =>
      entryOf(
        maker,
        { kind: "tool_result", call, result: asError(message, false) },
        { origin: "workspace", isTainted: false },
      ),
    );
}

/**
 * Returns entries that close what is open when a process ends: results for calls, and voids for requests without any answer.
 * A kernel may have died in the middle of either, and the process may end before it looks at them.
 */
export function openEnds(state: Open, maker: EntryMaker, message: string): NewEntry[] {
  const shown = new Set(state.partial.map(({ message: id }) => id));
  const voids = state.requests.filter(
    ({ process, message: id }) => process === maker.process && !shown.has(id),
  );
  return [...unansweredCalls(state, maker, message), ...voids.map(({ message: id }) => voidEntry(maker, id))];
}

/** Returns the entries that stop a process that nothing works for. */
export function stopped(state: Open, process: Process, clock: Clock, reason?: string): NewEntry[] {
  const maker: EntryMaker = { process: process.id, turn: "", clock };
  const { expires: _expires, ...rest } = process;
  const value: Process = {
    ...rest,
    state: "Cancelled",
    ended: isoTime(clock.now()),
    ...stopError(reason),
  };
  return [...openEnds(state, maker, "cancelled"), processEntry(maker, value)];
}

/** Returns the ids of the answers that a process has begun and not ended. */
export function begunBy(
  { requests, partial }: Pick<ConversationState, "requests" | "partial">,
  id: string,
): Set<string> {
  return new Set(
    [...requests, ...partial].flatMap(({ process, message }) => (process === id ? message : [])),
  );
}
