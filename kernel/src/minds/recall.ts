import type { Entry } from "../base/vocabulary/conversation.ts";
import { textOf } from "../context/entry-text.ts";
import { taintOf } from "../context/taint.ts";
import { jsonText } from "../context/tokens.ts";
import { asError, type ConversationHost, type OwnResult } from "./host.ts";

const defaultRecalled = 10;
export const maxRecalled = 50;
const maxQueryCharacters = 4_000;
/** Characters of each entry that a search shows. */
const shownCharacters = 2_000;
/** Characters of one entry that are read at once: as UTF-8 they are less than what a request has of a result. */
const pieceCharacters = 16_000;
/** Characters of an entry in which the place to show is looked for: as many as are indexed. */
const lookedThrough = 256 * 1024;
/** Occurrences of the words that are compared. */
const maxOccurrences = 1_000;
/** The kinds of entries that a search finds. */
const foundKinds = ["message", "conclusion", "summary", "tool_result"] as const;

type Arguments = Readonly<Record<string, unknown>>;

/** Searches what was said in this conversation, or another one of the same mind; or reads one entry that was found. */
export async function recall(conversation: ConversationHost, args: Arguments): Promise<OwnResult> {
  const { log, ports } = conversation;
  const id = typeof args["conversation"] === "string" ? args["conversation"] : log.id;
  const agent = id === log.id ? log.header.agent : await ports.reader.agentOf(id);
  if (agent !== log.header.agent) return { result: asError(`There is no conversation "${id}" of yours.`) };
  const { query, entry } = args;
  if (typeof entry === "number") return await readEntry(conversation, id, entry, args["offset"]);
  if (typeof query === "string" && query.trim() !== "")
    return await search(conversation, id, query, args["limit"]);
  return { result: asError('channel_recall needs the argument "query", a text, or "entry", a number.') };
}

async function search(
  { ports, log }: Pick<ConversationHost, "ports" | "log">,
  id: string,
  query: string,
  limit: unknown,
): Promise<OwnResult> {
  const most =
    typeof limit === "number" ? Math.min(maxRecalled, Math.max(1, Math.floor(limit))) : defaultRecalled;
  const { agent } = log.header;
  const question = { agent, text: query.slice(0, maxQueryCharacters), mode: "auto", limit: most } as const;
  const found = await withoutChanged(await ports.reader.answering([id], question), (entry) =>
    ports.reader.entry(id, entry),
  );
  const entries = found.map(({ entry }) => entry);
  return resultOf(
    entries,
    entries.map((entry) => {
      const text = wholeTextOf(entry);
      const piece = pieceOf(text, startOf(text, query), shownCharacters);
      const isWhole = piece.text.length === text.length;
      return {
        ...placeOf(entry),
        ...(isWhole ? {} : { offset: piece.offset, characters: text.length }),
        text: piece.text,
        ...(isWhole ? {} : { note: `A part. To read all of it: { "entry": ${entry.seq}, "offset": 0 }.` }),
      };
    }),
  );
}

async function readEntry(
  { ports }: Pick<ConversationHost, "ports">,
  id: string,
  seq: number,
  from: unknown,
): Promise<OwnResult> {
  const offset = typeof from === "number" ? from : 0;
  if (!Number.isSafeInteger(offset) || offset < 0)
    return { result: asError('"offset" must be a number of characters, from 0.') };
  const missing = { result: asError(`There is no entry ${seq} that a search finds.`) };
  if (!Number.isSafeInteger(seq) || seq < 1) return missing;
  const [found] = await ports.reader.entries(id, {
    after: seq - 1,
    through: seq,
    kinds: [...foundKinds],
    limit: 1,
  });
  if (found === undefined || (found.kind === "message" && found.partial === true)) return missing;
  const newest = await ports.reader.entry(id, found.id);
  // The model reads what an interceptor made of it.
  const entry = newest?.by !== undefined && newest.seq > found.seq ? newest : found;
  const text = wholeTextOf(entry);
  if (offset > 0 && offset >= text.length)
    return { result: asError(`The entry ${seq} has ${text.length} characters; "offset" is ${offset}.`) };
  const piece = pieceOf(text, offset, pieceCharacters);
  const end = piece.offset + piece.text.length;
  return resultOf([entry], {
    ...placeOf(entry),
    offset: piece.offset,
    characters: text.length,
    text: piece.text,
    ...(end < text.length ? { note: `Continue with "offset": ${end}.` } : {}),
  });
}

const placeOf = ({ seq, kind, created, origin }: Entry) => ({ seq, kind, at: created, origin });

function resultOf(entries: readonly Entry[], value: unknown): OwnResult {
  const { sources, tainted = false } = taintOf(entries);
  return {
    provenance: {
      origin: "workspace",
      isTainted: tainted,
      ...(sources === undefined ? {} : { sources }),
    },
    result: { status: "success", value },
  };
}

/** Returns the text of an entry; a result as it is in the log, which may be longer than what a request has of it. */
function wholeTextOf(entry: Entry): string {
  if (entry.kind !== "tool_result" || entry.result.status !== "success") return textOf(entry);
  const { value } = entry.result;
  return typeof value === "string" ? value : jsonText(value ?? null);
}

/** Returns where the part of a text begins that has the most of a question's words. */
function startOf(text: string, query: string): number {
  const words = query.match(/[\p{L}\p{N}]+/gu) ?? [];
  if (text.length <= shownCharacters || words.length === 0) return 0;
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join("|")})(?![\\p{L}\\p{N}])`, "giu");
  const places: { readonly at: number; readonly word: string }[] = [];
  for (const match of text.slice(0, lookedThrough).matchAll(pattern)) {
    places.push({ at: match.index, word: match[0].toLowerCase() });
    if (places.length === maxOccurrences) break;
  }
  let best = { at: 0, words: 0 };
  const inside = new Map<string, number>();
  let end = 0;
  for (const { at, word } of places) {
    for (; end < places.length && (places[end]?.at ?? 0) < at + shownCharacters / 2; end++) {
      const next = places[end]?.word ?? "";
      inside.set(next, (inside.get(next) ?? 0) + 1);
    }
    if (inside.size > best.words) best = { at, words: inside.size };
    const left = (inside.get(word) ?? 1) - 1;
    if (left === 0) inside.delete(word);
    else inside.set(word, left);
  }
  // With something of what stands before it.
  return Math.max(0, Math.min(best.at - shownCharacters / 4, text.length - shownCharacters));
}

/** Returns a part of a text that begins and ends with whole characters. */
function pieceOf(text: string, from: number, length: number): { offset: number; text: string } {
  const isInside = (at: number): boolean => /[\udc00-\udfff]/.test(text.charAt(at)) && isHigh(text, at - 1);
  const offset = isInside(from) ? from - 1 : from;
  const end = Math.min(text.length, offset + length);
  return { offset, text: text.slice(offset, isInside(end) ? end - 1 : end) };
}

const isHigh = (text: string, at: number): boolean => /[\ud800-\udbff]/.test(text.charAt(at));

/** Leaves entries out that an interceptor's change replaced: the model reads the change. */
async function withoutChanged<Found extends { readonly entry: Entry }>(
  found: readonly Found[],
  newest: (id: string) => Promise<Entry | null>,
): Promise<readonly Found[]> {
  const isCurrent = await Promise.all(
    found.map(async ({ entry: { id, seq } }) => {
      const last = await newest(id);
      return last === null || last.by === undefined || last.seq <= seq;
    }),
  );
  return found.filter((_found, index) => isCurrent[index]);
}
