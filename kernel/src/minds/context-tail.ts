import { isJsonObject } from "../base/json.ts";
import type { Entry } from "../base/vocabulary/conversation.ts";
import { History } from "../context/history.ts";
import { type ContextPrefix, readPrefix } from "../context/prefix.ts";
import { namedSources } from "../context/taint.ts";
import { audienceOf } from "../conversations/records.ts";
import type { EntryReader, ProcessLog } from "./ports.ts";

/** Data stored with a process's context, beside its prefix. */
interface StoredPrefix {
  readonly context: ContextPrefix;
  /** The seq of its record; 0: it is not stored. */
  readonly seq?: number;
  /** For a branch: the last entry of the channel that it knows. */
  readonly channel?: { readonly process: string; readonly through: number };
}

/** Entries that are read at once. */
const pageSize = 2_000;

/** The part of a conversation that one process's model sees, in memory while the process works: nothing is read twice. */
export class ContextTail {
  readonly #log: ProcessLog;
  readonly #process: string;
  #stored: StoredPrefix;
  #entries: Entry[];
  /** What texts inherit from the entries up to `taken`. */
  #inherited = noInheritance();
  #history: { readonly model: string; readonly history: History; taken: number } | null = null;

  private constructor(log: ProcessLog, process: string, stored: StoredPrefix, entries: Entry[]) {
    this.#log = log;
    this.#process = process;
    this.#stored = stored;
    this.#entries = entries;
  }

  /** Reads the stored prefix and what follows it; null if the process has no prefix yet. */
  static async load(log: ProcessLog, process: string, reader: EntryReader): Promise<ContextTail | null> {
    const stored = decodePrefix(await reader.prefix(log.id, process));
    if (stored === null) return null;
    const { context, channel } = stored;
    const ofChannel =
      channel === undefined
        ? []
        : await readAll(reader, log.id, channel.process, context.after, channel.through);
    const own = await readAll(reader, log.id, process, Math.max(channel?.through ?? 0, context.after));
    return new ContextTail(log, process, stored, [...ofChannel, ...own]);
  }

  /** Begins a context; it is stored before it is used. */
  static async begin(
    log: ProcessLog,
    process: string,
    stored: StoredPrefix,
    entries: readonly Entry[],
  ): Promise<ContextTail> {
    const seq = await log.storePrefix(process, stored);
    return new ContextTail(log, process, { ...stored, seq }, [...entries]);
  }

  /** Returns a context as it would begin, without storing it. */
  static preview(
    log: ProcessLog,
    process: string,
    context: ContextPrefix,
    entries: readonly Entry[],
  ): ContextTail {
    return new ContextTail(log, process, { context }, [...entries]);
  }

  get prefix(): ContextPrefix {
    return this.#stored.context;
  }

  /** The seq behind which requests were made with this prefix. */
  get prefixSeq(): number {
    return this.#stored.seq ?? this.prefix.after;
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  since(seq: number): readonly Entry[] {
    return this.#entries.slice(this.#entries.findLastIndex((entry) => entry.seq <= seq) + 1);
  }

  /** Returns where the entries come from: what a text inherits that is made of them. Each entry is looked at once. */
  get inherited(): { readonly sources: readonly string[]; readonly tainted?: true } {
    const { sources, taken } = this.#inherited;
    for (let at = taken; at < this.#entries.length; at++) {
      const entry = this.#entries[at] as Entry;
      if (entry.tainted === true) this.#inherited.tainted = true;
      for (const source of namedSources(entry)) sources.add(source);
    }
    this.#inherited.taken = this.#entries.length;
    return { sources: [...sources], ...(this.#inherited.tainted ? { tainted: true } : {}) };
  }

  /** Returns the history of the entries. Each entry is taken once as long as the same model is asked. */
  history(model: string, speakers: ReadonlySet<string>): History {
    if (this.#history?.model !== model) {
      const options = { process: this.#process, model, files: new Map(), speakers };
      const history = new History({ ...options, countedFrom: this.prefixSeq });
      this.#history = { model, history, taken: 0 };
    }
    const { history, taken } = this.#history;
    for (const entry of this.#entries.slice(taken)) history.take(entry);
    this.#history.taken = this.#entries.length;
    return history;
  }

  /** The seq of the last entry that the model would see; 0 if there is none. */
  get lastSeq(): number {
    return this.#entries.at(-1)?.seq ?? this.prefix.after;
  }

  /** Takes entries that were appended; those of other processes are left out. */
  take(entries: readonly Entry[]): void {
    for (const entry of entries)
      if (audienceOf(entry, this.#log.state) === this.#process && entry.seq > this.lastSeq)
        this.#entries.push(entry);
  }

  /** Replaces the prefix after a compaction. */
  async compact(context: ContextPrefix): Promise<void> {
    const { seq: _old, ...stored } = this.#stored;
    const seq = await this.#log.storePrefix(this.#process, { ...stored, context });
    this.#stored = { ...stored, context, seq };
    this.#entries = this.#entries.filter(({ seq }) => seq > context.after);
    this.#history = null;
    this.#inherited = noInheritance();
  }
}

function noInheritance(): { readonly sources: Set<string>; tainted: boolean; taken: number } {
  return { sources: new Set(), tainted: false, taken: 0 };
}

export function decodePrefix(
  found: { readonly seq: number; readonly data: unknown } | null,
): StoredPrefix | null {
  if (found === null || !isJsonObject(found.data)) return null;
  const prefix = found.data["prefix"] as Partial<StoredPrefix> | null | undefined;
  const context = readPrefix(prefix?.context);
  if (context === null) return null;
  const channel = prefix?.channel;
  return {
    context,
    seq: found.seq,
    ...(typeof channel?.process === "string" && typeof channel.through === "number" ? { channel } : {}),
  };
}

async function readAll(
  reader: EntryReader,
  conversation: string,
  audience: string,
  from: number,
  through?: number,
): Promise<Entry[]> {
  const found: Entry[] = [];
  for (let after = from; ;) {
    const page = await reader.entries(conversation, {
      after,
      audience,
      limit: pageSize,
      ...(through === undefined ? {} : { through }),
    });
    found.push(...page);
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return found;
    after = last.seq;
  }
}
