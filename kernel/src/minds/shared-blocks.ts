import type { EntryOf } from "../base/vocabulary/conversation.ts";
import type { MindBlock } from "../base/vocabulary/mind.ts";
import type { Conversations } from "../conversations/conversations.ts";
import type { NewEntry } from "../conversations/records.ts";
import { sharedLogOf } from "../conversations/log-names.ts";
import { newestBlocks } from "../conversations/whole-logs.ts";

/** The text of a shared block, and whose it is: `person`, or `agent:<id>`. */
export interface SharedText {
  readonly text: string;
  readonly origin: string;
  readonly sources: readonly string[];
}

/** The outcome of an edit: it is in the log, the text was another one than the editor knew, or why it is not allowed. */
export type EditOutcome = "written" | "changed" | { readonly refusal: string };

/** Returns why an agent may not use a shared memory of this workspace; null if it may. */
export type MayShare = (agent: string, namespace: string, wanted: "read" | "read_write") => string | null;

interface Stored extends SharedText {
  readonly seq: number;
}
type Shared = Pick<MindBlock, "name"> & { readonly namespace: string };
type BlockEntry = Extract<NewEntry, { kind: "block" }>;

const nothing: Stored = { text: "", origin: "person", sources: [], seq: 0 };
/** Edits by others that may come between a look at the text and the own edit. */
const maxAttempts = 100;

/**
 * The blocks that several minds have in a shared memory. Each memory has one log of them. Whether a mind may read or write
 * one is decided with each use, because a grant can be taken away.
 */
export class SharedBlocks {
  readonly #conversations: Conversations;
  readonly #mayShare: MayShare;
  /** By the names of logs. */
  readonly #read = new Map<string, Promise<ReadonlyMap<string, Stored>>>();

  constructor(conversations: Conversations, mayShare: MayShare) {
    this.#conversations = conversations;
    this.#mayShare = mayShare;
  }

  /** Returns the present text, or why the mind may not read it. */
  async read(agent: string, { name, namespace }: Shared): Promise<SharedText | { readonly refusal: string }> {
    const refusal = this.#mayShare(agent, namespace, "read");
    return refusal === null ? await this.#text(namespace, name) : { refusal };
  }

  /**
   * Writes a text if the block still has one of those that its editor knows. Nobody vouches for a tainted text, so it is
   * never written. `known`: null for a person, who sees the present text and needs no grant of the mind to write.
   */
  async edit(
    agent: string,
    { name, namespace }: Shared,
    entry: BlockEntry,
    known: readonly string[] | null,
  ): Promise<EditOutcome> {
    const refusal = this.#mayShare(agent, namespace, known === null ? "read" : "read_write");
    if (refusal !== null) return { refusal };
    if (entry.tainted === true) return { refusal: "A person has to accept the text first." };
    using opened = await this.#conversations.openShared(namespace);
    const { log } = opened;
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const now = await this.#text(namespace, name);
      // An earlier attempt, before a kernel died, has written it.
      if (now.text === entry.text) return "written";
      if (known !== null && !known.includes(now.text)) return "changed";
      const written = await log.append(() =>
        (log.state.blocks.find((block) => block.name === name)?.seq ?? 0) === now.seq ? [entry] : [],
      );
      if (written.length > 0) return "written";
    }
    return "changed";
  }

  /** Entries were appended to the log of this name. */
  changed(log: string): void {
    this.#read.delete(log);
  }

  async #text(namespace: string, name: string): Promise<Stored> {
    const id = sharedLogOf(namespace);
    let reading = this.#read.get(id);
    if (reading === undefined) {
      reading = this.#ofLog(id);
      this.#read.set(id, reading);
      reading.catch(() => this.#read.delete(id));
    }
    return (await reading).get(name) ?? nothing;
  }

  async #ofLog(id: string): Promise<ReadonlyMap<string, Stored>> {
    const edits = await newestBlocks(this.#conversations, id);
    return new Map(edits.flatMap((edit) => storedIn(edit)));
  }
}

function storedIn({ name, text, origin, sources = [], seq, tainted }: EntryOf<"block">): [string, Stored][] {
  return tainted === true ? [] : [[name, { text, origin, sources, seq }]];
}

/** Returns what a text is made from that a mind reads: another mind's is also that mind's. */
export function sourcesFor(agent: string, { origin, sources }: SharedText): readonly string[] {
  const isOthers = origin.startsWith("agent:") && origin !== `agent:${agent}`;
  return isOthers ? [...new Set([origin, ...sources])] : sources;
}
