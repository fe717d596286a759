import { limitExceeded } from "../base/errors.ts";
import { canonicalJson, isJsonObject } from "../base/json.ts";
import { endedStates, type Entry, type EntryOf, replacedBy } from "../base/vocabulary/conversation.ts";
import type { Refusals } from "../journal/append-group.ts";
import { RecordForm } from "../journal/record.ts";
import type { ConversationState } from "./fold.ts";

/**
 * The kinds of records in a conversation's log: what it is, once and first; entries; and the beginnings of contexts, which
 * stay as they are between compactions.
 */
export const conversationRecords = new RecordForm(["conversation", "entry", "prefix"]);
export type ConversationRecord = (typeof conversationRecords)["kinds"][number];

/** The first record of a log. */
export interface Header {
  readonly version: 1;
  /** The agent whose mind it belongs to. */
  readonly agent: string;
  readonly created: string;
  /** Where its first entries are, for a fork, and the state after these. */
  readonly forked_from?: { readonly conversation: string; readonly seq: number };
  readonly start?: ConversationState;
}

type WithoutPlace<Each extends Entry = Entry> = Each extends Entry
  ? Omit<Each, "seq" | "conversation">
  : never;

/** An entry that has no place in a log yet. */
export type NewEntry = WithoutPlace;

/** An entry's texts can be found by searching for words. */
const maxSearchedCharacters = 256 * 1024;
/** Values inside of a result that are looked at. */
const maxSearchedValues = 20_000;

export const conversationRefusals: Refusals = {
  tooLong: (lineBytes) =>
    limitExceeded(
      "entry_bytes",
      lineBytes,
      `This would be an entry of ${lineBytes} bytes, which is too long. Nothing was written.`,
    ),
  full: (wantedBytes, maxBytes) =>
    limitExceeded(
      "conversation_bytes",
      wantedBytes,
      `This would grow the conversation to ${wantedBytes} bytes; it may have at most ${maxBytes}. Nothing was written. Begin a new one.`,
    ),
};

/** Returns the data of an entry's record: its place is that of the record. */
export function encodeEntry(entry: NewEntry): string {
  return canonicalJson(entry);
}

/** Returns the entry of a record's data; null for data that is not an entry, which only other versions write. */
export function decodeEntry(data: unknown, conversation: string, seq: number): Entry | null {
  if (!isJsonObject(data) || typeof data["kind"] !== "string" || typeof data["id"] !== "string") return null;
  return { ...(data as unknown as NewEntry), conversation, seq };
}

export function decodeHeader(data: unknown): Header | null {
  if (!isJsonObject(data) || data["version"] !== 1 || typeof data["agent"] !== "string") return null;
  return data as unknown as Header;
}

/**
 * Returns an entry without its large contents, which are kept beside the log. It has everything that a fold of the log
 * takes from an entry.
 */
export function stubOf(entry: NewEntry): NewEntry {
  switch (entry.kind) {
    case "message":
      return { ...entry, parts: entry.parts.filter(({ type }) => type === "image") };
    case "tool_call":
      return { ...entry, arguments: {} };
    case "tool_result":
      return { ...entry, result: { status: "success", value: null } };
    case "conclusion":
    case "summary":
    case "notice":
    case "block":
      return { ...entry, text: "" };
    case "redaction":
      return {
        ...entry,
        entries: replacedBy(entry as EntryOf<"redaction">).map((each) => ({
          ...stubOf(each),
          seq: each.seq,
        })),
      };
    case "process":
    case "request":
    case "action":
    case "ask":
    case "usage":
    case "pin":
    case "meta":
    case "void":
      return entry;
  }
}

/** Returns the hashes of the pictures of a record's data: its other part, if it has one, is the data itself. */
export function picturesOf(data: unknown): ReadonlySet<string> {
  const parts = isJsonObject(data) && data["kind"] === "message" ? data["parts"] : null;
  return new Set(
    (Array.isArray(parts) ? parts : []).flatMap((part) =>
      isJsonObject(part) && part["type"] === "image" ? [String(part["object"])] : [],
    ),
  );
}

/** Returns the words by which an entry is found; empty for one that is not searched. */
export function searchedText(entry: NewEntry): string {
  switch (entry.kind) {
    case "message":
      if (entry.partial === true) return "";
      return entry.parts
        .flatMap((part) => (part.type === "text" ? [part.text] : part.type === "file" ? [part.path] : []))
        .join("\n")
        .slice(0, maxSearchedCharacters);
    case "conclusion":
    case "summary":
      return entry.text.slice(0, maxSearchedCharacters);
    case "tool_result":
      return entry.result.status === "success" ? textsIn(entry.result.value) : "";
    case "notice":
    case "block":
    case "tool_call":
    case "process":
    case "request":
    case "action":
    case "ask":
    case "usage":
    case "pin":
    case "meta":
    case "redaction":
    case "void":
      return "";
  }
}

const embeddedKinds: ReadonlySet<Entry["kind"]> = new Set(["message", "conclusion", "summary"]);

/** Returns the text by which an entry is found by what it means; empty for one that is found by its words alone. */
export function embeddedText(entry: NewEntry): string {
  return embeddedKinds.has(entry.kind) ? searchedText(entry) : "";
}

/** Returns the texts inside of a tool's result, in their order, as many as are searched. */
function textsIn(value: unknown): string {
  const texts: string[] = [];
  let left = maxSearchedCharacters;
  let values = maxSearchedValues;
  // Not recursive: a result may be nested deeply.
  const waiting: unknown[] = [value];
  while (waiting.length > 0 && left > 0 && values-- > 0) {
    const next = waiting.pop();
    if (typeof next === "string") {
      const text = next.slice(0, left);
      left -= text.length + 1;
      texts.push(text);
    } else if (Array.isArray(next) || isJsonObject(next)) {
      const inside = Array.isArray(next) ? next : Object.values(next);
      for (let at = Math.min(inside.length, values) - 1; at >= 0; at--) waiting.push(inside[at]);
    }
  }
  return texts.join("\n");
}

/**
 * Names the process whose context an entry is read in: the parent's for what a child found, or, where that has ended, its
 * parent's; its own otherwise.
 */
export function audienceOf(entry: NewEntry, { processes }: Pick<ConversationState, "processes">): string {
  if (entry.kind !== "conclusion") return entry.process;
  const find = (wanted: string | undefined) => processes.find(({ id }) => id === wanted);
  let reader = find(find(entry.process)?.parent);
  while (reader !== undefined && reader.kind !== "channel" && endedStates.has(reader.state))
    reader = find(reader.parent);
  return reader?.id ?? entry.process;
}
