import type { Entry } from "../base/vocabulary/conversation.ts";
import type { ChangedText, ShownContext } from "../base/vocabulary/interception.ts";
import type { Context } from "../context/context.ts";

/** Returns a context as interceptors see it. `entries`: those that its messages are made of. */
export function shownContext({ messages, begins }: Context, entries: readonly Entry[]): ShownContext {
  return { messages, begins, changed: entries.flatMap(changedIn) };
}

function changedIn(entry: Entry): ChangedText[] {
  if (entry.by === undefined) return [];
  if (entry.kind === "tool_result") return [{ by: entry.by, call: entry.call }];
  return entry.kind === "message" ? [{ by: entry.by }] : [];
}
