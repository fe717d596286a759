import type { Entry, Process } from "../base/vocabulary/conversation.ts";
import { bulletinBlock } from "../base/vocabulary/mind.ts";
import { type ContextPrefix, prefixOf } from "../context/prefix.ts";
import type { ConversationLog } from "../conversations/conversation-log.ts";
import { blocksNow, changedElsewhere } from "./blocks.ts";
import { ContextTail } from "./context-tail.ts";
import type { AtWork } from "./host.ts";
import { kinds, toolsOf } from "./kinds.ts";
import { rememberedLately } from "./lately.ts";
import type { Mind, MindPorts } from "./ports.ts";
import type { RestingContexts } from "./resting-contexts.ts";
import { beginsTurn, lastRequestOf } from "./turns.ts";

interface ContextsHost {
  readonly ports: MindPorts;
  readonly log: ConversationLog;
  /** The process that talks to the person; null in a mind's own log. */
  readonly talker: Process | null;
  mind(): Mind;
}

/** Entries of a process that has no context yet. */
const maxFirstEntries = 10_000;

/** The contexts of a conversation's processes: one for each, so that whoever changes one changes it for all. */
export class Contexts {
  readonly #host: ContextsHost;
  readonly #resting: RestingContexts;
  readonly #tails = new Map<string, ContextTail>();
  /** Those that are being read or begun. */
  readonly #coming = new Map<string, Promise<ContextTail>>();

  constructor(host: ContextsHost, resting: RestingContexts) {
    this.#host = host;
    this.#resting = resting;
    const { log, talker } = host;
    const kept = resting.take(log);
    if (kept !== null && talker !== null) this.#tails.set(talker.id, kept);
  }

  /** Takes entries that were appended. */
  take(entries: readonly Entry[]): void {
    for (const tail of this.#tails.values()) tail.take(entries);
  }

  set(process: string, tail: ContextTail): void {
    this.#tails.set(process, tail);
  }

  drop(process: string): void {
    this.#tails.delete(process);
  }

  /** The conversation comes to rest: its channel's context is kept for the next message. */
  rest(): void {
    const { log, talker } = this.#host;
    const tail = talker === null ? undefined : this.#tails.get(talker.id);
    if (tail !== undefined) this.#resting.keep(log, tail);
  }

  /** Returns whether something came that a process has to answer; true if that is not known here. */
  hasUnread(process: Process): boolean {
    const entries = this.#tails.get(process.id)?.entries;
    if (entries === undefined) return true;
    const lastRequest = lastRequestOf(process.id, entries);
    return entries.some((entry) => entry.seq > lastRequest && beginsTurn(entry, process));
  }

  /** Returns a process's context. If there is none, begins it; callers at the same time share the one that is begun. */
  async of(process: Process): Promise<ContextTail> {
    const known = this.#tails.get(process.id) ?? this.#coming.get(process.id);
    if (known !== undefined) return await known;
    const coming = this.#read(process);
    this.#coming.set(process.id, coming);
    try {
      return await coming;
    } finally {
      this.#coming.delete(process.id);
    }
  }

  /** Returns the beginning of a process's context as it would be now. */
  async prefixFor(process: Pick<Process, "kind" | "name" | "interactive">): Promise<ContextPrefix> {
    const { ports } = this.#host;
    const { agent, definition } = this.#host.mind();
    const { isIdentified, prompt } = kinds[process.kind];
    const ofMind = isIdentified ? await ports.blocks.ofMind(agent.id) : new Map<string, string>();
    const tools = toolsOf(process, definition, (patterns, within) =>
      ports.tools.list(agent.id, patterns, within),
    );
    return prefixOf({
      identity: isIdentified ? definition.identity : [],
      role: prompt(definition, process),
      tools,
      // Nothing else can read them.
      skills: tools.some(({ name }) => name === "read_skill") ? definition.skills : [],
      blocks: isIdentified ? await blocksNow(ports.blocks, agent.id, definition.blocks) : [],
      bulletin: ofMind.get(bulletinBlock) ?? "",
      remembered: isIdentified
        ? await rememberedLately(ports, agent.id, definition.cortex.bulletinTokens)
        : [],
    });
  }

  /** Writes down which blocks were changed elsewhere since a channel last looked. */
  async tellChanges({ record, tail, maker }: AtWork): Promise<void> {
    if (tail === null || record.kind !== "channel") return;
    const { agent, definition } = this.#host.mind();
    const { log, ports } = this.#host;
    await log.append(await changedElsewhere(tail, ports.blocks, agent.id, definition.blocks, maker));
  }

  async #read(process: Process): Promise<ContextTail> {
    // Entries that are appended during the read.
    const missed: Entry[] = [];
    using _listening = this.#host.log.appended.on((entries) => missed.push(...entries));
    const loaded = await this.#load(process);
    const tail = this.#tails.get(process.id) ?? loaded;
    tail.take(missed);
    this.#tails.set(process.id, tail);
    return tail;
  }

  async #load(process: Process): Promise<ContextTail> {
    const { log, ports } = this.#host;
    return (
      (await ContextTail.load(log, process.id, ports.reader)) ??
      (await ContextTail.begin(
        log,
        process.id,
        { context: await this.prefixFor(process) },
        await ports.reader.entries(log.id, { audience: process.id, limit: maxFirstEntries }),
      ))
    );
  }
}
