import { isJsonObject } from "../base/json.ts";
import { type Entry, type EntryOf, replacedBy } from "../base/vocabulary/conversation.ts";
import { redactedMark, textRemover, type TextRemover } from "../base/without-texts.ts";
import { textOf } from "../context/entry-text.ts";
import { continued } from "../context/partial-parts.ts";
import { readPrefix } from "../context/prefix.ts";
import type { Removal } from "../conversations/redactions.ts";
import { titleOf } from "./beginning.ts";

/** A text of fewer characters may stand anywhere by chance. */
export const minRepeated = 12;
/** Characters of a line that a cortex has read. */
const readOfLine = 900;

/** The kinds of entries that a person can have removed as a whole. */
const removable: ReadonlySet<Entry["kind"]> = new Set([
  "message",
  "tool_call",
  "tool_result",
  "conclusion",
  "summary",
  "notice",
  "block",
]);

export function isRemovable({ kind }: Entry): boolean {
  return removable.has(kind);
}

/** Removes texts, wherever they stand. */
export function removalOfTexts(texts: readonly string[]): Removal {
  const remover = textRemover(texts);
  return {
    entry: (entry) => withoutTexts(entry, remover),
    context: (context) => contextWithout(context, remover, { texts }),
  };
}

/**
 * Removes whole entries, which have one id: an answer with the pieces in which it came, a message with what an extension
 * made of it. With them go summaries that stand for them and what compactions wrote since, the title that was made of
 * them, and exact copies. `seen`: the seqs of the entries in each log that has some; `mind`: the log of the mind itself.
 */
export function removalOfEntries(
  entries: readonly Entry[],
  seen: Readonly<Record<string, readonly number[]>>,
  mind: string,
): Removal {
  const ids = new Set(entries.map(({ id }) => id));
  const said = wholeEntries(entries);
  const texts = said.map((entry) => textOf(entry).trim()).filter((text) => text !== "");
  const copied = copiedTexts(entries);
  const copies = textRemover(copied);
  const inMind = textRemover([...copied, ...linesAsRead(said, texts)]);
  const titles = new Set(
    said
      .flatMap((entry) => (entry.kind === "message" ? [titleOf(entry.parts)] : []))
      .filter((title) => title !== ""),
  );
  const seqsIn = (log: string): readonly number[] =>
    log === mind || !Object.hasOwn(seen, log) ? [] : (seen[log] ?? []);
  const covers = (log: string, of: readonly number[] | undefined): boolean =>
    of !== undefined && seqsIn(log).some((seq) => seq >= (of[0] ?? 0) && seq <= (of[1] ?? 0));
  /** The entries of a log are looked at in their order. */
  const compactions = new Set<string>();
  const isMadeOf = (entry: Entry, log: string): boolean => {
    if (entry.kind === "process" && entry.value.kind === "compaction") compactions.add(entry.value.id);
    if (entry.kind === "summary") return covers(log, entry.covers);
    return compactions.has(entry.process) && seqsIn(log).some((seq) => seq < entry.seq);
  };
  return {
    entry: (entry, log) => {
      // An id is an entry's in every log that has it.
      if (ids.has(entry.id) || isMadeOf(entry, log)) return changed(entry, redacted(entry));
      const remover = log === mind ? inMind : copies;
      if (
        entry.kind === "meta" &&
        entry.title !== undefined &&
        Object.hasOwn(seen, log) &&
        titles.has(entry.title)
      )
        return { ...entry, title: redactedMark };
      // It holds copies of what was replaced.
      if (entry.kind === "redaction")
        return changed(entry, {
          ...entry,
          entries: replacedBy(entry).map((each) => ({
            ...(ids.has(each.id) ? redacted(each) : (withoutTexts(each, remover) ?? each)),
          })),
        });
      return withoutTexts(entry, remover);
    },
    context: (context, log) =>
      contextWithout(
        context,
        log === mind ? inMind : copies,
        Object.hasOwn(seen, log) ? { covers: (of) => covers(log, of), ids, texts } : {},
      ),
  };
}

/**
 * Returns entries without the pieces of streamed answers: a piece is cut anywhere and may be a phrase that other texts
 * contain too. The pieces of an answer that was never completed are joined into one entry.
 */
function wholeEntries(entries: readonly Entry[]): Entry[] {
  const pieces = new Map<string, EntryOf<"message">>();
  const whole: Entry[] = [];
  for (const entry of entries) {
    if (entry.kind !== "message" || entry.partial !== true) {
      whole.push(entry);
      continue;
    }
    const before = pieces.get(entry.id);
    const joined = before === undefined ? entry : { ...before, parts: continued(before.parts, entry.parts) };
    pieces.set(entry.id, joined);
  }
  const ids = new Set(whole.map(({ id }) => id));
  return [...whole, ...pieces.values().filter(({ id }) => !ids.has(id))];
}

/**
 * Returns the texts of entries that are looked for elsewhere: the whole text, and what is prose in arguments and results. A
 * path or a name in them is not the person's text.
 */
export function copiedTexts(entries: readonly Entry[]): string[] {
  return [...new Set(wholeEntries(entries).flatMap(copiedTextsOf))];
}

function copiedTextsOf(entry: Entry): string[] {
  const whole = textOf(entry).trim();
  const texts =
    entry.kind === "message"
      ? entry.parts.flatMap((part) => (part.type === "text" || part.type === "reasoning" ? [part.text] : []))
      : entry.kind === "tool_call"
        ? stringsIn(entry.arguments)
        : entry.kind === "tool_result"
          ? stringsIn(entry.result)
          : [];
  return [whole, ...texts.map((text) => text.trim()).filter((text) => /\s/.test(text))].filter(
    (text) => text.length >= minRepeated && text !== redactedMark,
  );
}

function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(stringsIn);
  return isJsonObject(value) ? Object.values(value).flatMap(stringsIn) : [];
}

/** Removes what either of two removes. */
export function bothRemovals(first: Removal, second: Removal): Removal {
  const both = <Value>(value: Value, by: (removal: Removal, value: Value) => Value | null): Value | null => {
    const once = by(first, value);
    return by(second, once ?? value) ?? once;
  };
  return {
    entry: (entry, log) => both(entry, (removal, value) => removal.entry(value, log)),
    context: (context, log) => both(context, (removal, value) => removal.context(value, log)),
  };
}

/** Returns the lines with which a cortex may have read the entries. */
function linesAsRead(entries: readonly Entry[], texts: readonly string[]): string[] {
  const lines = texts.flatMap((text) => text.split("\n")).map((line) => line.trim().slice(0, readOfLine));
  const short = entries
    .map((entry) => textOf(entry).split("\n", 1)[0] ?? "")
    .filter((line) => line !== "")
    .flatMap((line) =>
      ["person", "mind", "conclusion", "summary"].map((who) => `${who}: ${line.slice(0, readOfLine)}`),
    );
  return [...lines.filter((line) => line.length >= minRepeated), ...short];
}

/** Returns an entry with a mark in place of its texts. What refers to it, and where it came from, stays. */
export function redacted(entry: Entry): Entry {
  switch (entry.kind) {
    case "message":
      return { ...entry, parts: [{ type: "text", text: redactedMark }] };
    case "tool_call": {
      const { opaque: _opaque, ...call } = entry;
      return { ...call, arguments: { redacted: redactedMark } };
    }
    case "tool_result":
      return {
        ...entry,
        result:
          entry.result.status === "error"
            ? { ...entry.result, message: redactedMark }
            : { status: "success", value: redactedMark },
      };
    case "conclusion":
    case "summary":
    case "notice":
    case "block":
      return { ...entry, text: redactedMark };
    case "process":
    case "request":
    case "action":
    case "ask":
    case "usage":
    case "pin":
    case "meta":
    case "redaction":
    case "void":
      return entry;
  }
}

/** Returns an entry without the texts; null if it has none of them. */
export function withoutTexts(entry: Entry, texts: TextRemover): Entry | null {
  if (texts.forms.length === 0) return null;
  const without = texts.from;
  switch (entry.kind) {
    case "message":
      return changed(entry, { ...entry, parts: without(entry.parts.map(withoutOpaque(texts))) });
    case "tool_call": {
      const now = { ...entry, arguments: without(entry.arguments) };
      if (changed(entry, now) === null) return null;
      const { opaque: _opaque, ...call } = now;
      return call;
    }
    case "tool_result":
      return changed(entry, { ...entry, result: without(entry.result) });
    case "conclusion":
    case "summary":
    case "notice":
    case "block":
      return changed(entry, { ...entry, text: without(entry.text) });
    case "process": {
      const { task, status, error } = entry.value;
      const value = {
        ...entry.value,
        ...(task === undefined ? {} : { task: without(task) }),
        ...(status === undefined ? {} : { status: without(status) }),
        ...(error === undefined ? {} : { error: without(error) }),
      };
      return changed(entry, { ...entry, value });
    }
    case "meta":
      return entry.title === undefined ? null : changed(entry, { ...entry, title: without(entry.title) });
    case "redaction":
      return changed(entry, {
        ...entry,
        entries: replacedBy(entry).map((each) => ({ ...(withoutTexts(each, texts) ?? each) })),
      });
    case "request":
    case "action":
    case "ask":
    case "usage":
    case "pin":
    case "void":
      return null;
  }
}

type Part = EntryOf<"message">["parts"][number];

/** What a model reads again byte by byte may hold the text in a form that nobody can search. */
const withoutOpaque =
  ({ holds }: TextRemover) =>
  (part: Part): Part =>
    part.type === "reasoning" && holds(part.text) ? { type: "reasoning", text: part.text } : part;

/** Returns the beginning of a context without the texts, and without what was made of them; null if it has none of that. */
function contextWithout(
  stored: unknown,
  remover: TextRemover,
  removed: {
    /** True for a summary that stands for a removed entry. */
    covers?(of: readonly number[]): boolean;
    /** Entries. */
    readonly ids?: ReadonlySet<string>;
    /** Exact strings of these texts are removed too. */
    readonly texts?: readonly string[];
  },
): unknown {
  const context = isJsonObject(stored) ? readPrefix(stored["context"]) : null;
  if (context === null || !isJsonObject(stored)) return null;
  const { summaries, carried, blocks, bulletin, remembered } = context;
  const { covers, ids, texts = [] } = removed;
  const without = remover.from;
  const now = {
    ...context,
    blocks: without(blocks),
    bulletin: without(bulletin),
    remembered: remembered.map((memory) => ({ ...memory, text: without(memory.text) })),
    summaries: without(
      summaries.map((summary) =>
        covers?.(summary.covers) === true ? { ...summary, text: redactedMark } : summary,
      ),
    ),
    carried: without({
      ...carried,
      pins: carried.pins.map((pin) => (ids?.has(pin.entry) === true ? { ...pin, text: redactedMark } : pin)),
      strings: carried.strings.filter(({ text }) => !texts.some((whole) => whole.includes(text))),
    }),
  };
  return JSON.stringify(now) === JSON.stringify(context) ? null : { ...stored, context: now };
}

/**
 * Removes memories by their ids from the beginnings of contexts and from what was recalled: a short text may occur anywhere
 * by chance.
 */
export function removalOfMemories(ids: readonly string[]): Removal {
  return {
    entry: (entry) =>
      entry.kind === "tool_result" && entry.result.status === "success" && Array.isArray(entry.result.value)
        ? changed(entry, {
            ...entry,
            result: {
              ...entry.result,
              value: entry.result.value.map((item: unknown) =>
                isJsonObject(item) && typeof item["text"] === "string" && ids.includes(String(item["id"]))
                  ? { ...item, text: redactedMark }
                  : item,
              ),
            },
          })
        : null,
    context: (stored) => {
      const context = isJsonObject(stored) ? readPrefix(stored["context"]) : null;
      if (context === null || !isJsonObject(stored)) return null;
      const remembered = context.remembered.filter(({ id }) => !ids.includes(id));
      return remembered.length === context.remembered.length
        ? null
        : { ...stored, context: { ...context, remembered } };
    },
  };
}

/** Removes from these logs what models and tools said of a memory word by word, after they were told it. */
export function removalOfRetold(texts: readonly string[], logs: readonly string[]): Removal {
  const { entry: without, context } = removalOfTexts(texts);
  const told = new Set(logs);
  return {
    entry: (entry, log) => (told.has(log) && entry.origin !== "person" ? without(entry, log) : null),
    context: (stored, log) => (told.has(log) ? context(stored, log) : null),
  };
}

/** Returns the beginning of a context without what a block said; null if it has nothing of it. */
export function contextWithoutBlock(stored: unknown, name: string, said: readonly string[]): unknown {
  const first = contextWithout(stored, textRemover(said), {}) ?? stored;
  const context = isJsonObject(first) ? readPrefix(first["context"]) : null;
  if (context === null || !isJsonObject(first)) return null;
  const isSaid = context.blocks.some(
    (block) => block.name === name && (block.text !== "" || block.known !== undefined),
  );
  if (!isSaid && first === stored) return null;
  const blocks = context.blocks.map((block) =>
    block.name === name ? { name, description: block.description, text: "" } : block,
  );
  return { ...first, context: { ...context, blocks } };
}

const changed = (before: Entry, now: Entry): Entry | null =>
  JSON.stringify(before) === JSON.stringify(now) ? null : now;
