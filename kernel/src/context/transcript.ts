import { pictureText } from "../base/pictures.ts";
import type { Entry } from "../base/vocabulary/conversation.ts";
import { quoted, withinBytes } from "./data-text.ts";
import { eventText, resultText, sourcesOf } from "./entry-text.ts";
import { continued } from "./partial-parts.ts";
import { jsonText } from "./tokens.ts";

/** A text of the transcript that a summary is made of, before it is quoted. */
export interface TranscriptItem {
  /** Empty: the text is quoted already. */
  readonly heading: string;
  readonly text: string;
  readonly isResult: boolean;
}

/** Returns what a summary of these entries is made of; the parts of an answer that was cut off are one text. */
export function transcriptOf(entries: readonly Entry[]): TranscriptItem[] {
  const partial = new Map<string, number>();
  const items: TranscriptItem[] = [];
  for (const { entry, item } of shown(entries)) {
    if (entry.kind !== "message" || entry.partial !== true) {
      items.push(item);
      continue;
    }
    const at = partial.get(entry.id);
    const before = at === undefined ? undefined : items[at];
    if (at !== undefined && before !== undefined) items[at] = { ...before, text: before.text + item.text };
    else {
      partial.set(entry.id, items.length);
      items.push({ ...item, heading: `${item.heading}, cut off` });
    }
  }
  return items;
}

/** Returns the seq of the first entry that a transcript of them shows; Infinity if it would be empty. */
export function firstShown(entries: readonly Entry[]): number {
  for (const { entry } of shown(entries)) return entry.seq;
  return Infinity;
}

/** Returns whether a transcript shows an entry, unless another entry replaces or voids it. */
export function isShown(entry: Entry): boolean {
  return itemOf(entry) !== null;
}

/** Yields the entries that have a text in the transcript. */
function* shown(
  entries: readonly Entry[],
): Generator<{ readonly entry: Entry; readonly item: TranscriptItem }> {
  const whole = new Set<string>();
  const gone = new Set<string>();
  for (const entry of entries)
    if (entry.kind === "void") gone.add(entry.message);
    else if (entry.kind === "message" && entry.partial !== true) whole.add(entry.id);
  for (const entry of entries) {
    if (entry.kind === "message" && (gone.has(entry.id) || (entry.partial === true && whole.has(entry.id))))
      continue;
    const item = itemOf(entry);
    if (item !== null) yield { entry, item };
  }
}

function itemOf(entry: Entry): TranscriptItem | null {
  const item = itemWith(entry);
  return item.text === "" ? null : item;
}

function itemWith(entry: Entry): TranscriptItem {
  if (entry.kind === "message") return messageItem(entry);
  if (entry.kind === "tool_call")
    return { heading: `call of ${quoted(entry.tool)}`, text: jsonText(entry.arguments), isResult: false };
  if (entry.kind === "tool_result")
    return {
      heading: entry.result.status === "error" ? "its result, an error" : "its result",
      text: resultText(entry.result),
      isResult: true,
    };
  return { heading: "", text: eventText(entry) ?? "", isResult: false };
}

function messageItem(entry: Extract<Entry, { kind: "message" }>): TranscriptItem {
  const speaker =
    entry.role === "assistant"
      ? "the assistant"
      : entry.origin === "person"
        ? "the person"
        : quoted(entry.origin);
  const text = continued([], entry.parts).flatMap((part) => {
    switch (part.type) {
      case "text":
        return [withinBytes(part.text)];
      case "reasoning":
        return [];
      case "image":
        return [pictureText(part.media_type, part.bytes)];
      case "file":
        return [`(the file ${quoted(part.path)})`];
    }
  });
  return { heading: `${speaker}${sourcesOf(entry)}`, text: text.join("\n"), isResult: false };
}
