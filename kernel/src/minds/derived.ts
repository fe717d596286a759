import { isJsonObject } from "../base/json.ts";
import type { Entry, EntryOf } from "../base/vocabulary/conversation.ts";
import { textOf } from "../context/entry-text.ts";
import type { Conversations } from "../conversations/conversations.ts";
import { everyEntry } from "../conversations/whole-logs.ts";

/** What a model writes in a turn, with the turn's entries before it. */
const ofTurn: ReadonlySet<Entry["kind"]> = new Set(["message", "tool_call", "tool_result", "notice"]);
/** What stands for a conversation as it was before, in whatever turn it was written. */
const ofAllBefore: ReadonlySet<Entry["kind"]> = new Set(["conclusion", "summary", "block"]);

/**
 * Returns what was made from entries, by where it was made: the rest of the model's turn, and conclusions, summaries, blocks
 * and bulletins that were written later. Whether they still have something of the text, nobody can know.
 */
export async function derivedFrom(
  conversations: Conversations,
  logs: readonly string[],
  mind: string,
  origins: readonly Entry[],
): Promise<readonly Entry[]> {
  const ids = new Set(origins.map(({ id }) => id));
  const turns = new Set(origins.flatMap(({ id, turn }) => [id, turn]));
  const since = origins
    .map(({ created }) => created)
    .reduce((one, other) => (other < one ? other : one), "~");
  const derived = new Map<string, Entry>();
  for (const log of logs) {
    let hasOrigin = false;
    for await (const entry of everyEntry(conversations, log)) {
      hasOrigin ||= ids.has(entry.id);
      const isLater = log === mind ? entry.created >= since : hasOrigin;
      if (!isLater || ids.has(entry.id) || entry.origin === "person" || textOf(entry) === "") continue;
      const isMade =
        ofAllBefore.has(entry.kind) ||
        (ofTurn.has(entry.kind) && (log === mind || turns.has(entry.turn)) && isWritten(entry));
      // The last of the pieces in which an answer came.
      if (isMade) derived.set(entry.id, entry);
    }
  }
  return [...derived.values()];
}

/** Results are taken too: a tool may have got the text from the model's arguments. */
function isWritten(entry: Entry): boolean {
  if (entry.kind === "tool_result") return !isAboutProcess(entry);
  return entry.kind !== "message" || entry.role === "assistant";
}

const factsOfProcess: ReadonlySet<string> = new Set(["process", "state", "note"]);

/** True for what the kernel's tools for processes return: ids, states and its own words have nothing of any text. */
function isAboutProcess({ result, origin }: EntryOf<"tool_result">): boolean {
  if (result.status !== "success" || origin !== "workspace") return false;
  const { value = null } = result;
  return (
    value === null || (isJsonObject(value) && Object.keys(value).every((key) => factsOfProcess.has(key)))
  );
}
