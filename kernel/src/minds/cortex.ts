import { isoTime } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import type { Entry, Process } from "../base/vocabulary/conversation.ts";
import { asRecords, headOf, quoted } from "../context/data-text.ts";
import { withoutReplaced } from "../context/replaced.ts";
import { bulletinBlock } from "../base/vocabulary/mind.ts";
import { textOf } from "../context/entry-text.ts";
import type { Conversations } from "../conversations/conversations.ts";
import type { MindConversation } from "./conversation.ts";
import { entryOf, type EntryMaker, processEntry } from "./entries.ts";
import type { MindPorts } from "./ports.ts";

interface CortexPorts {
  readonly ports: MindPorts;
  readonly conversations: Conversations;
  /** Calls with the mind's own log at work. */
  useMind<Result>(agent: string, work: (mind: MindConversation) => Promise<Result>): Promise<Result>;
}

/** Conversations and entries of each that a cortex reads at once. */
const maxConversations = 20;
/** Conversations that are looked at when a kernel starts, the last used first. */
const maxLooked = 1_000;
const maxEntries = 40;
const maxTextCharacters = 1_000;
const maxReadCharacters = 40_000;
/** About four characters are a token. */
const charactersPerToken = 4;
/** After so many failures in a row it rests until the kernel is started again. */
const maxFailures = 3;

/** Looks after a mind from time to time: has a model read what was said lately, remember, and write the bulletin. */
export class Cortex implements Disposable {
  readonly #parts: CortexPorts;
  readonly #timers = new Map<string, Disposable>();
  readonly #failures = new Map<string, number>();

  constructor(parts: CortexPorts) {
    this.#parts = parts;
  }

  /** Has the minds read, when the time comes or at once, what was said before this kernel and no run has read. */
  async start(): Promise<void> {
    const { conversations } = this.#parts;
    const since = new Map<string, string>();
    const unread = new Map<string, string>();
    for (const { agent, state } of await conversations.list({ limit: maxLooked })) {
      const through = since.get(agent) ?? (await this.#last(agent)).readThrough;
      since.set(agent, through);
      if (state.updated <= through || state.tainted.length > 0) continue;
      const from = state.created > through ? state.created : through;
      const known = unread.get(agent);
      if (known === undefined || from < known) unread.set(agent, from);
    }
    for (const [agent, from] of unread) this.hasNews(agent, Date.parse(from));
  }

  /** A conversation of the mind has changed: it is read when the time comes. `from`: since when there is something to read. */
  hasNews(agent: string, from = this.#parts.ports.clock.now()): void {
    const definition = this.#parts.ports.mindOf(agent)?.definition;
    if (definition === undefined || this.#timers.has(agent)) return;
    if ((this.#failures.get(agent) ?? 0) >= maxFailures) return;
    const due = from + definition.cortex.everyMs - this.#parts.ports.clock.now();
    this.#timers.set(
      agent,
      this.#parts.ports.clock.timer(Math.max(0, due), () => {
        this.#timers.delete(agent);
        this.run(agent).catch((error: unknown) =>
          this.#parts.ports.log.error(`The cortex of ${agent} failed: ${messageOf(error)}`),
        );
      }),
    );
  }

  /** Reads what is new and writes the bulletin. Returns false if there was nothing new, or the model failed. */
  async run(agent: string): Promise<boolean> {
    const { ports } = this.#parts;
    const mind = ports.mindOf(agent);
    if (mind === null) return false;
    const now = isoTime(ports.clock.now());
    const last = await this.#last(agent);
    if ((await this.#news(agent, last.readThrough)) === "") return false;
    const most = mind.definition.cortex.bulletinTokens * charactersPerToken;
    const isDone = await this.#parts.useMind(agent, async (conversation) => {
      // Read again: while the mind's log was in use for it, a person had a text removed.
      const news = await this.#news(agent, last.readThrough);
      if (news === "" || conversation.isStopping) return null;
      const process = await this.#process(conversation, news, mind.definition.cortex.bulletinTokens, now);
      // Told once, not for each of several failures in a row.
      if (process.failure !== null && !last.hasFailed)
        ports.notify({
          agent,
          title: mind.agent.name,
          message: `What was said lately could not be read for its bulletin: ${process.failure}`,
          severity: "warning",
        });
      if (process.text === null) return false;
      // What it was written from may have been removed.
      if (conversation.isStopping) return null;
      // It holds only what somebody vouches for: what is read below is clean, and what it recalls may not be.
      if (process.isTainted) return true;
      const maker: EntryMaker = { process: process.id, turn: "", clock: ports.clock };
      await conversation.log.append([
        entryOf(
          maker,
          { kind: "block", name: bulletinBlock, text: process.text.slice(0, most).toWellFormed() },
          { origin: "model" },
        ),
      ]);
      return true;
    });
    if (isDone === null) return false;
    this.#failures.set(agent, isDone ? 0 : (this.#failures.get(agent) ?? 0) + 1);
    return isDone;
  }

  stop(): void {
    for (const timer of this.#timers.values()) timer[Symbol.dispose]();
    this.#timers.clear();
  }

  [Symbol.dispose](): void {
    this.stop();
  }

  async #process(
    conversation: MindConversation,
    news: string,
    bulletinTokens: number,
    started: string,
  ): Promise<{
    readonly id: string;
    readonly text: string | null;
    readonly isTainted: boolean;
    readonly failure: string | null;
  }> {
    const { clock } = this.#parts.ports;
    const id = newId();
    const maker: EntryMaker = { process: id, turn: "", clock };
    const record: Process = {
      id,
      kind: "cortex",
      state: "Waiting",
      task: "Look after the mind",
      // What was said later is read by the next run.
      started,
    };
    const task = `${news}\n\nMerge and note what is worth remembering, then answer with the bulletin, in at most ${bulletinTokens} tokens.`;
    await conversation.log.append([
      processEntry(maker, record),
      entryOf(
        maker,
        { kind: "message", role: "user", parts: [{ type: "text", text: task }] },
        { origin: "kernel" },
      ),
    ]);
    const process = conversation.startChild(record, "");
    await conversation.ended(id);
    return {
      id,
      text: process?.record.state === "Done" ? process.conclusion : null,
      isTainted: process?.provenance("model").isTainted === true,
      failure: process?.record.state === "Failed" ? (process.record.error?.message ?? "") : null,
    };
  }

  /** Returns what the mind's log says of its last runs: up to when they have read, and whether the last one failed. */
  async #last(agent: string): Promise<{ readonly readThrough: string; readonly hasFailed: boolean }> {
    const row = await this.#parts.conversations.find(agent);
    const runs = (row?.state.processes ?? []).filter(({ kind }) => kind === "cortex");
    return {
      readThrough: runs.findLast(({ state }) => state === "Done")?.started ?? "",
      hasFailed: runs.at(-1)?.state === "Failed",
    };
  }

  /** Returns what was said lately in the mind's conversations, without anything that nobody vouches for. */
  async #news(agent: string, since: string): Promise<string> {
    const { conversations } = this.#parts;
    const rows = (await conversations.list({ agent, limit: maxConversations })).filter(
      ({ state }) => state.updated > since && state.tainted.length === 0,
    );
    const texts: string[] = [];
    let left = maxReadCharacters;
    for (const { id, state } of rows) {
      const entries = await conversations.entries(id, {
        kinds: ["message", "conclusion", "summary"],
        limit: maxEntries,
        newest: true,
      });
      const said = withoutReplaced(entries)
        .filter((entry) => isSaid(entry, since))
        .map(recordOf);
      if (said.length === 0) continue;
      const text = asRecords(`the conversation ${quoted(state.title)}`, said);
      if (text.length > left) break;
      left -= text.length;
      texts.push(text);
    }
    return texts.join("\n\n");
  }
}

function isSaid(entry: Entry, since: string): boolean {
  return (
    entry.created > since &&
    entry.tainted !== true &&
    (entry.kind !== "message" || entry.partial !== true) &&
    textOf(entry) !== ""
  );
}

function recordOf(entry: Entry): { readonly label: string; readonly text: string } {
  const label = entry.origin === "person" ? "person" : entry.kind === "message" ? "mind" : entry.kind;
  return { label, text: headOf(textOf(entry), maxTextCharacters) };
}
