import { isoTime, type Clock } from "../base/clock.ts";
import { newId } from "../base/ids.ts";
import type { Part, Process } from "../base/vocabulary/conversation.ts";
import { entryOf, type EntryMaker, processEntry } from "./entries.ts";
import type { ProcessLog } from "./ports.ts";

/** Writes the first entries of a conversation: its channel, and what a person chose. */
export async function beginConversation(
  log: Pick<ProcessLog, "append">,
  clock: Clock,
  { title = "", model = "" }: { readonly title?: string; readonly model?: string },
): Promise<void> {
  const id = newId();
  const maker: EntryMaker = { process: id, turn: "", clock };
  const channel: Process = {
    id,
    kind: "channel",
    state: "WaitingForInput",
    started: isoTime(clock.now()),
  };
  const meta = { ...(title === "" ? {} : { title }), ...(model === "" ? {} : { model }) };
  await log.append([
    processEntry(maker, channel),
    ...(Object.keys(meta).length === 0
      ? []
      : [entryOf(maker, { kind: "meta", ...meta }, { origin: "person" })]),
  ]);
}

const titleCharacters = 60;

/** Returns the beginning of a message, as the title of the conversation that begins with it. */
export function titleOf(parts: readonly Part[]): string {
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(" ");
  const line = text.trim().split("\n", 1)[0]?.trim() ?? "";
  return line.length <= titleCharacters
    ? line
    : `${line.slice(0, titleCharacters - 1).trimEnd()}…`.toWellFormed();
}
