import type { ShownEntry } from "./entries.ts";
import { plainLine } from "../../../../kernel/src/base/plain-text.ts";

/** Characters of a message that are announced; a screen reader reads the rest in its place. */
const maxSpoken = 400;

/** Returns what to announce of the entries behind a seq: whole messages, what waits, and failures. */
export function spokenBetween(
  entries: readonly ShownEntry[],
  after: number,
  agent: string,
  channel: string,
): string {
  const words: string[] = [];
  for (const entry of entries) {
    if (entry.seq <= after) continue;
    if (
      entry.kind === "message" &&
      entry.role === "assistant" &&
      entry.partial !== true &&
      entry.process === channel
    ) {
      const text = entry.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(" ");
      if (text.trim() !== "") words.push(`${agent}: ${plainLine(text.slice(0, maxSpoken))}`);
    } else if (entry.kind === "action" && entry.state === "PendingApproval")
      words.push("A change waits for you.");
    else if (entry.kind === "ask" && entry.state === "Pending") words.push("A question waits for you.");
    else if (entry.kind === "notice") words.push(plainLine(entry.text.slice(0, maxSpoken)));
    else if (entry.kind === "process" && entry.value.state === "Failed" && entry.value.error !== undefined)
      words.push(`Failed: ${plainLine(entry.value.error.message.slice(0, maxSpoken))}`);
  }
  return words.join(" ").slice(0, 2 * maxSpoken);
}
