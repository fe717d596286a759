import { newId } from "../base/ids.ts";
import type { Entry } from "../base/vocabulary/conversation.ts";
import { ConversationFold, type ConversationState, emptyState } from "./fold.ts";
import type { NewEntry } from "./records.ts";

/**
 * Returns the state with which a fork begins: that of its origin after the entry with this seq, without what was going on
 * there. `read` returns the next entries behind a seq, none at the end.
 */
export async function stateOfFork(
  now: Readonly<ConversationState>,
  at: number,
  read: (after: number) => Promise<readonly Entry[]>,
): Promise<ConversationState> {
  if (now.seq === at) return quiet(structuredClone(now));
  const fold = new ConversationFold();
  for (let entries = await read(0); entries.length > 0; entries = await read(entries.at(-1)?.seq ?? at))
    for (const entry of entries) fold.take(entry);
  return quiet(structuredClone(fold.state));
}

function quiet(state: ConversationState): ConversationState {
  const { usage, requests, calls, references, rejections, isUnread, partial } = emptyState();
  const processes = state.processes
    .filter(({ kind }) => kind === "channel")
    .map(({ error: _error, ended: _ended, ...channel }) => ({
      ...channel,
      state: "WaitingForInput" as const,
    }));
  return {
    ...state,
    state: "open",
    unreadAt: [],
    usage,
    requests,
    calls,
    references,
    rejections,
    isUnread,
    partial,
    processes,
  };
}

/** Returns the entry that gives a fork its title. */
export function titled(title: string, { processes }: Readonly<ConversationState>, created: string): NewEntry {
  const id = newId();
  const process = processes.find(({ kind }) => kind === "channel")?.id ?? id;
  return { kind: "meta", id, turn: id, process, created, origin: "workspace", title };
}
