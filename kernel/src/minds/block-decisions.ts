import type { Ask } from "../base/vocabulary/ask.ts";
import type { NewEntry } from "../conversations/records.ts";
import { entryOf } from "./entries.ts";
import type { AtWork, DoubtfulEdit } from "./host.ts";
import type { MindPorts, ProcessLog } from "./ports.ts";

interface BlocksHost {
  readonly ports: MindPorts;
  readonly log: ProcessLog;
}

/**
 * Edits of a mind's blocks that hold in one conversation until a person accepts them: then the text is the mind's, for all
 * of its conversations.
 */
export class BlockDecisions {
  readonly #host: BlocksHost;
  readonly #accepting = new Map<string, Promise<readonly NewEntry[]>>();

  constructor(host: BlocksHost) {
    this.#host = host;
  }

  /**
   * Asks the person about an edit. `call`: the call that made it, which asks once. Returns the question; null if nothing
   * is asked, because the person said no to the same text a short while ago. A question about an earlier text of the
   * block in this conversation is withdrawn.
   */
  async ask({ record }: AtWork, call: string, { block, text, sources }: DoubtfulEdit): Promise<Ask | null> {
    const { ports, log } = this.#host;
    const { agent } = log.header;
    const before = (await ports.blocks.ofMind(agent)).get(block) ?? "";
    // It would change nothing.
    if (before === text) return null;
    const { id: conversation } = log;
    const place = { agent, conversation, process: record.kind };
    const asked = await ports.asks.block(place, { block, before, text, sources }, `${conversation} ${call}`);
    for (const { kind, ref } of log.state.references) {
      if (kind !== "ask" || ref === asked?.id) continue;
      const other = await ports.asks.get(ref);
      if (other?.kind === "block" && other.facts["block"] === block) ports.asks.withdraw(ref);
    }
    return asked;
  }

  /** Makes an accepted text the mind's, once. Returns entries that tell the person where that was not possible. */
  accepted(ask: Ask, talker: string): Promise<readonly NewEntry[]> {
    const known = this.#accepting.get(ask.id) ?? this.#accept(ask, talker);
    this.#accepting.set(ask.id, known);
    known.catch(() => this.#accepting.delete(ask.id));
    return known;
  }

  async #accept({ id, facts, sources }: Ask, talker: string): Promise<readonly NewEntry[]> {
    const { ports, log } = this.#host;
    const { agent } = log.header;
    const { block: name, before, text } = facts;
    if (typeof name !== "string" || typeof text !== "string") return [];
    // A kernel may have died before the answer was in the log of the conversation.
    if ((await ports.reader.entry(agent, id)) !== null) return [];
    const maker = { process: talker, turn: "", clock: ports.clock };
    const now = (await ports.blocks.ofMind(agent)).get(name) ?? "";
    if (now !== before && now !== text) {
      const why = `The block "${name}" has changed since you were asked, so the text that you accepted stays in this conversation.`;
      return [entryOf(maker, { kind: "notice", text: why }, { origin: "workspace" })];
    }
    const edit = entryOf(maker, { kind: "block", name, text }, { origin: "person", sources }, id);
    await ports.blocks.edit(agent, edit);
    return [];
  }
}
