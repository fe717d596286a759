import type { Entry } from "../base/vocabulary/conversation.ts";
import { type ContextPrefix, readPrefix } from "../context/prefix.ts";
import { audienceOf } from "../conversations/records.ts";
import type { EntryReader, ProcessLog } from "./ports.ts";

/** What a process's context is stored with, beside its prefix. */
interface StoredPrefix {
  readonly context: ContextPrefix;
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

  private constructor(log: ProcessLog, process: string, stored: StoredPrefix, entries: Entry[]) {
    this.#log = log;
    this.#process = process;
    this.#stored = stored;
    this.#entries = entries;
  }

  /** Reads the stored prefix and what follows it; null if the process has no prefix yet. */
  static async load(log: ProcessLog, process: string, reader: EntryReader): Promise<ContextTail | null> {
    const stored = decode(await reader.prefix(log.id, process));
    if (stored === null) return null;
    const { context, channel } = stored;
    const ofChannel =
      channel === undefined
        ? []
        : await readAll(reader, log.id, channel.process, context.after, channel.through);
    const own = await readAll(reader, log.id, process, channel?.through ?? context.after);
    return new ContextTail(log, process, stored, [...ofChannel, ...own]);
  }

  /** Begins a context; it is stored before it is used. */
  static async begin(
    log: ProcessLog,
    process: string,
    stored: StoredPrefix,
    entries: readonly Entry[],
  ): Promise<ContextTail> {
    await log.storePrefix(process, stored);
    return new ContextTail(log, process, stored, [...entries]);
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

  get entries(): readonly Entry[] {
    return this.#entries;
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
    await this.#log.storePrefix(this.#process, { ...this.#stored, context });
    this.#stored = { ...this.#stored, context };
    this.#entries = this.#entries.filter(({ seq }) => seq > context.after);
  }
}

function decode(value: unknown): StoredPrefix | null {
  if (typeof value !== "object" || value === null || !("prefix" in value)) return null;
  const { prefix } = value as { prefix: Partial<StoredPrefix> | null };
  const context = readPrefix(prefix?.context);
  if (context === null) return null;
  const channel = prefix?.channel;
  return {
    context,
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
