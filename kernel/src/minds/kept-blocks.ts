import type { EntryOf } from "../base/vocabulary/conversation.ts";
import { bulletinBlock, type MindBlock } from "../base/vocabulary/mind.ts";
import type { Conversations } from "../conversations/conversations.ts";
import type { Appended } from "../conversations/log-journal.ts";
import { newestBlocks } from "../conversations/whole-logs.ts";
import type { BulletinTime, MindPorts } from "./ports.ts";
import { SharedBlocks } from "./shared-blocks.ts";

type Blocks = ReadonlyMap<string, string>;

/** What a mind's own log says. */
interface Own {
  readonly texts: Blocks;
  readonly bulletin: BulletinTime;
}

/**
 * The texts of minds' blocks, which stand in the minds' own logs, and in those of shared memories. Each is read once, and
 * again after an edit.
 */
export class KeptBlocks {
  readonly #conversations: Conversations;
  readonly #ports: Pick<MindPorts, "mindOf" | "mayShare">;
  readonly #shared: SharedBlocks;
  readonly #read = new Map<string, Promise<Own>>();

  constructor(conversations: Conversations, ports: Pick<MindPorts, "mindOf" | "mayShare">) {
    this.#conversations = conversations;
    this.#ports = ports;
    this.#shared = new SharedBlocks(conversations, ports.mayShare);
  }

  /** Returns the texts by the blocks' names, without the shared ones that the mind may not read. */
  async ofMind(agent: string): Promise<Blocks> {
    const { texts: own } = await this.#own(agent);
    const shared = this.#ports.mindOf(agent)?.definition.blocks.filter(isShared) ?? [];
    if (shared.length === 0) return own;
    const all = new Map(own);
    for (const block of shared) {
      all.delete(block.name);
      const found = await this.#shared.read(agent, block);
      if (!("refusal" in found) && found.text !== "") all.set(block.name, found.text);
    }
    return all;
  }

  async bulletinTime(agent: string): Promise<BulletinTime> {
    return (await this.#own(agent)).bulletin;
  }

  readonly shared: MindPorts["blocks"]["shared"] = async (agent, block) =>
    isShared(block) ? await this.#shared.read(agent, block) : null;

  readonly mayWrite: MindPorts["blocks"]["mayWrite"] = (agent, { namespace }) =>
    namespace === undefined ? null : this.#ports.mayShare(agent, namespace, "read_write");

  readonly edit: MindPorts["blocks"]["edit"] = async (agent, entry, known) => {
    const blocks = this.#ports.mindOf(agent)?.definition.blocks ?? [];
    const block = entry.kind === "block" ? blocks.find(({ name }) => name === entry.name) : undefined;
    if (block !== undefined && isShared(block) && entry.kind === "block") {
      const origin = entry.origin === "model" ? `agent:${agent}` : entry.origin;
      return await this.#shared.edit(agent, block, { ...entry, origin }, known);
    }
    using opened = await this.#conversations.openMind(agent);
    await opened.log.append([entry]);
    return "written";
  };

  /** Entries were appended to any log. */
  take({ header: { agent }, entries }: Appended): void {
    // A mind's own log, and that of a shared memory, are named by their agents.
    if (
      !entries.some(
        ({ conversation, kind }) => conversation === agent && (kind === "block" || kind === "redaction"),
      )
    )
      return;
    this.#read.delete(agent);
    this.#shared.changed(agent);
  }

  async #own(agent: string): Promise<Own> {
    let reading = this.#read.get(agent);
    if (reading === undefined) {
      reading = this.#ofLog(agent);
      this.#read.set(agent, reading);
      reading.catch(() => this.#read.delete(agent));
    }
    return await reading;
  }

  async #ofLog(agent: string): Promise<Own> {
    const edits = await newestBlocks(this.#conversations, agent);
    const texts = new Map(edits.flatMap((edit) => textOf(edit)));
    const edit = edits.find(({ name }) => name === bulletinBlock);
    if (edit === undefined || (texts.get(bulletinBlock) ?? "") === "")
      return { texts, bulletin: { from: "", written: "" } };
    const row = await this.#conversations.find(agent);
    const run = row?.state.processes.find(({ id }) => id === edit.process);
    return { texts, bulletin: { from: run?.started ?? edit.created, written: edit.created } };
  }
}

function isShared(block: MindBlock): block is MindBlock & { readonly namespace: string } {
  return block.namespace !== undefined;
}

/** A mind keeps nothing that no person accepted and that untrusted text led to. */
function textOf({ name, text, tainted }: EntryOf<"block">): [string, string][] {
  return tainted === true ? [] : [[name, text]];
}
