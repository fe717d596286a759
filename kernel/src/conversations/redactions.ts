import { type Clock, isoTime } from "../base/clock.ts";
import { newId } from "../base/ids.ts";
import { isJsonObject } from "../base/json.ts";
import { endedStates, type Entry } from "../base/vocabulary/conversation.ts";
import { isConversationId } from "./log-names.ts";
import { type Change, Pieces } from "./redacted-pieces.ts";
import type { IndexRows } from "./index-rows.ts";
import type { OpenLog } from "./open-logs.ts";
import type { NewEntry } from "./records.ts";
import type { MessageVectors } from "./vectors/message-vectors.ts";

/** What a person wants removed. Both functions return null if nothing changes, and for values that they returned before. */
export interface Removal {
  /** Returns what stands in an entry's place from now on. `log`: the conversation that has the entry as its own. */
  entry(entry: Entry, log: string): Entry | null;
  /** The same for the stored beginning of a context. */
  context(context: unknown, log: string): unknown;
}

interface RedactionsParts {
  readonly rows: IndexRows;
  readonly clock: Pick<Clock, "now">;
  /** Opens a log, that of a deleted conversation too. */
  use(id: string): Promise<OpenLog>;
  /** Returns the conversations that have a conversation's entries, and up to which seq, the first ones first. */
  stretchesOf(id: string): Promise<readonly { readonly conversation: string; readonly through: number }[]>;
  prefix(id: string, process: string): Promise<{ readonly data: unknown } | null>;
  isOpen(id: string): boolean;
  /** The vectors made from the entries. */
  readonly vectors: Pick<MessageVectors, "forget" | "held"> | undefined;
}

const pageSize = 500;
/** Entries that one redaction names. */
const maxNamed = 50;

/** Removes texts from the logs of conversations, for good. */
export class Redactions {
  readonly #parts: RedactionsParts;

  constructor(parts: RedactionsParts) {
    this.#parts = parts;
  }

  /** Returns a conversation, those that it was forked from, and all forks of these: the ones that may share entries. */
  async family(id: string): Promise<readonly string[]> {
    const [root] = await this.#parts.stretchesOf(id);
    const found = [root?.conversation ?? id];
    for (const each of found) found.push(...(await this.#parts.rows.forksOf(each)));
    return found;
  }

  /** Returns the agents that have talked, or whose minds have a log. */
  async agents(): Promise<readonly string[]> {
    return [...(await this.#parts.rows.byAgent()).keys()];
  }

  /** Returns all conversations of these agents, with those that may share entries with them. */
  async conversationsOf(agents: readonly string[]): Promise<ReadonlySet<string>> {
    const logs = await this.#parts.rows.byAgent();
    const found = new Set<string>();
    for (const id of agents.flatMap((agent) => logs.get(agent) ?? []))
      if (isConversationId(id) && !found.has(id)) for (const each of await this.family(id)) found.add(each);
    return found;
  }

  /**
   * Returns, for each log, the seqs of the given entries that it contains, including those before a fork. After a fork, the
   * same seq names different entries in the two logs.
   */
  async seqsIn(ids: readonly string[], entries: readonly Entry[]): Promise<Record<string, number[]>> {
    const stretches = new Map<string, ReturnType<RedactionsParts["stretchesOf"]>>();
    const stretchesOf = (id: string): ReturnType<RedactionsParts["stretchesOf"]> => {
      const known = stretches.get(id) ?? this.#parts.stretchesOf(id);
      stretches.set(id, known);
      return known;
    };
    const owned: { readonly owner: string; readonly seq: number }[] = [];
    for (const { conversation, seq } of entries) {
      const own = (await stretchesOf(conversation)).find(({ through }) => seq <= through);
      owned.push({ owner: own?.conversation ?? conversation, seq });
    }
    const found: Record<string, number[]> = {};
    for (const id of ids) {
      const ends = new Map((await stretchesOf(id)).map((each) => [each.conversation, each.through]));
      const seqs = owned.flatMap(({ owner, seq }) => (seq <= (ends.get(owner) ?? 0) ? [seq] : []));
      if (seqs.length > 0) found[id] = seqs;
    }
    return found;
  }

  /** Returns the entries that `redact` would replace, as they are now. */
  async found(ids: readonly string[], removal: Removal): Promise<readonly Entry[]> {
    const found: Entry[] = [];
    for (const id of ids) for await (const { entry } of this.#changes(id, removal)) found.push(entry);
    return found;
  }

  /** True if `redact` would replace a beginning of a log's contexts. */
  async holdsInContext(id: string, removal: Removal): Promise<boolean> {
    return (await this.#contextsOf(id, removal)).length > 0;
  }

  /** True if `redact` would replace an entry of a log, or a beginning of its contexts. */
  async holds(id: string, removal: Removal): Promise<boolean> {
    if (await this.holdsInContext(id, removal)) return true;
    for await (const _change of this.#changes(id, removal)) return true;
    return false;
  }

  /**
   * Removes texts from these logs. A log says with entries of its own what was replaced, of the entries that it has from
   * others too. Returns the entries that were replaced, each once; resolves when their texts are in no file.
   */
  async redact(ids: readonly string[], removal: Removal): Promise<readonly Entry[]> {
    const { vectors } = this.#parts;
    const redact = (): Promise<readonly Entry[]> => this.#redact(ids, removal);
    return await (vectors === undefined ? redact() : vectors.held(redact));
  }

  async #redact(ids: readonly string[], removal: Removal): Promise<readonly Entry[]> {
    const { rows, stretchesOf, isOpen, use } = this.#parts;
    for (const id of ids.filter(isOpen)) {
      using opened = await use(id);
      // Waits until the entries that are being appended can be searched.
      await opened.log.append([]);
    }
    // Before anything is removed: a fork may work with a context of its origin.
    for (const id of ids) await this.#renewContexts(id, removal);
    const replaced = new Map<string, readonly Entry[]>();
    for (const id of ids) replaced.set(id, await this.#replacedIn(id, removal));
    // Now in case this kernel dies before the end, and again at the end in case the old texts were used meanwhile.
    await this.#forget(replaced);
    for (const id of ids) {
      const contexts = await this.#contextsOf(id, removal);
      const visible: Entry[] = [];
      for (const { conversation, through } of await stretchesOf(id))
        for (const entry of replaced.get(conversation) ?? [])
          if (entry.seq <= through) visible.push({ ...entry, conversation: id });
      if (visible.length + contexts.length > 0) await this.#redactLog(id, visible, contexts, removal);
    }
    await rows.scrub();
    await this.#forget(replaced);
    return [...replaced.values()].flat();
  }

  async #forget(replaced: ReadonlyMap<string, readonly Entry[]>): Promise<void> {
    for (const [id, entries] of replaced)
      if (entries.length > 0)
        await this.#parts.vectors?.forget(
          id,
          entries.map((entry) => entry.id),
        );
  }

  async #redactLog(
    id: string,
    entries: readonly Entry[],
    contexts: readonly number[],
    removal: Removal,
  ): Promise<void> {
    const { clock, use } = this.#parts;
    using opened = await use(id);
    const { log } = opened;
    const process = log.state.processes.find(({ kind }) => kind === "channel")?.id ?? id;
    const common = () => {
      const entry = newId();
      return { id: entry, process, turn: entry, created: isoTime(clock.now()), origin: "person" };
    };
    const redaction = (named: readonly Entry[], of: readonly number[] = []): NewEntry => ({
      ...common(),
      kind: "redaction",
      entries: named.map((each) => ({ ...each })),
      ...(of.length === 0 ? {} : { contexts: [...of] }),
    });
    const redactions = [redaction(entries.slice(0, maxNamed), contexts)];
    for (let at = maxNamed; at < entries.length; at += maxNamed)
      redactions.push(redaction(entries.slice(at, at + maxNamed)));
    // Which of the entries made the title is not known any more.
    const { title, seq } = log.state;
    const titled: Entry = { ...common(), kind: "meta", title, seq, conversation: id };
    const now = removal.entry(titled, id);
    if (now?.kind === "meta" && now.title !== undefined)
      redactions.push({ ...common(), kind: "meta", title: now.title });
    await log.redact(redactions);
  }

  async #replacedIn(id: string, removal: Removal): Promise<readonly Entry[]> {
    const found: Entry[] = [];
    for await (const { now } of this.#changes(id, removal)) found.push(now);
    return found;
  }

  async *#changes(id: string, removal: Removal): AsyncGenerator<Change> {
    const pieces = new Pieces();
    for (let after = 0; ;) {
      const page = await this.#parts.rows.entries(id, { after, limit: pageSize });
      for (const entry of page) {
        if (pieces.take(entry)) continue;
        const now = removal.entry(entry, id);
        // The pieces are changed before their whole answer: after a crash, the answer shows that they are still to be changed.
        yield* pieces.endedBy(entry, now !== null, (joined) => removal.entry(joined, id));
        if (now !== null) yield { entry, now };
      }
      const last = page.at(-1);
      if (last === undefined || page.length < pageSize) break;
      after = last.seq;
    }
    yield* pieces.left((joined) => removal.entry(joined, id));
  }

  /** Stores the contexts that processes work with again, without the texts. */
  async #renewContexts(id: string, removal: Removal): Promise<void> {
    // A deleted conversation has no processes at work.
    const row = await this.#parts.rows.get(id);
    for (const process of row?.state.processes ?? []) {
      if (endedStates.has(process.state) && process.kind !== "channel") continue;
      const now = removal.context(contextIn((await this.#parts.prefix(id, process.id))?.data), id);
      if (now === null) continue;
      using opened = await this.#parts.use(id);
      await opened.log.storePrefix(process.id, now);
    }
  }

  async #contextsOf(id: string, removal: Removal): Promise<readonly number[]> {
    const found: number[] = [];
    for (const seq of await this.#parts.rows.contexts(id))
      if (removal.context(contextIn(await this.#parts.rows.context(id, seq)), id) !== null) found.push(seq);
    return found;
  }
}

function contextIn(data: unknown): unknown {
  return isJsonObject(data) ? (data["prefix"] ?? null) : null;
}
