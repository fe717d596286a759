import type { Ask } from "../base/vocabulary/ask.ts";
import type { NewEntry } from "../conversations/records.ts";
import { sharedLogOf } from "../conversations/log-names.ts";
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
    const namespace = ports.mindOf(agent)?.definition.blocks.find(({ name }) => name === block)?.namespace;
    const edit = { block, before, text, sources, ...(namespace === undefined ? {} : { namespace }) };
    const asked = await ports.asks.block(place, edit, `${conversation} ${call}`);
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
    const { block: name, before, text, namespace } = facts;
    if (typeof name !== "string" || typeof text !== "string") return [];
    // A kernel may have died before the answer was in the log of the conversation.
    const kept = typeof namespace === "string" ? sharedLogOf(namespace) : agent;
    if ((await ports.reader.entry(kept, id)) !== null) return [];
    const maker = { process: talker, turn: "", clock: ports.clock };
    const notTaken = (why: string): readonly NewEntry[] => [
      entryOf(
        maker,
        { kind: "notice", text: `${why}, so the text that you accepted stays in this conversation.` },
        { origin: "workspace" },
      ),
    ];
    const changed = `The block "${name}" has changed since you were asked`;
    const block = ports.mindOf(agent)?.definition.blocks.find((each) => each.name === name);
    // The person was asked about another place.
    if (block?.namespace !== namespace) return notTaken(`The block "${name}" is kept elsewhere now`);
    const now = (await ports.blocks.ofMind(agent)).get(name) ?? "";
    if (now !== before && now !== text) return notTaken(changed);
    // Other minds read whose text it is.
    const origin = namespace === undefined ? "person" : `agent:${agent}`;
    const edit = entryOf(maker, { kind: "block", name, text }, { origin, sources }, id);
    const outcome = await ports.blocks.edit(agent, edit, [now]);
    if (outcome === "written") return [];
    return notTaken(outcome === "changed" ? changed : outcome.refusal.replace(/\.$/, ""));
  }
}
