import type { Entry } from "../base/vocabulary/conversation.ts";
import type { Appended, Conversations } from "../conversations/conversations.ts";
import type { NewEntry } from "../conversations/records.ts";

type Blocks = ReadonlyMap<string, string>;

/** Edits of a mind's blocks that are looked through for their present texts. */
const maxBlockEdits = 1_000;

/** The texts of minds' blocks, which stand in the minds' own logs. Each is read once, and again after an edit. */
export class KeptBlocks {
  readonly #conversations: Conversations;
  readonly #read = new Map<string, Promise<Blocks>>();

  constructor(conversations: Conversations) {
    this.#conversations = conversations;
  }

  /** Returns the texts by the blocks' names. */
  async ofMind(agent: string): Promise<Blocks> {
    let reading = this.#read.get(agent);
    if (reading === undefined) {
      reading = this.#ofLog(agent);
      this.#read.set(agent, reading);
      reading.catch(() => this.#read.delete(agent));
    }
    return await reading;
  }

  async edit(agent: string, entry: NewEntry): Promise<void> {
    using opened = await this.#conversations.openMind(agent);
    await opened.log.append([entry]);
  }

  /** Entries were appended to any log. */
  take({ header: { agent }, entries }: Appended): void {
    // A mind's own log is named by its agent.
    if (entries.some(({ conversation, kind }) => conversation === agent && kind === "block"))
      this.#read.delete(agent);
  }

  async #ofLog(agent: string): Promise<Blocks> {
    const entries = await this.#conversations.entries(agent, {
      kinds: ["block"],
      limit: maxBlockEdits,
      newest: true,
    });
    return new Map(entries.flatMap((entry) => textOf(entry)));
  }
}

/** A mind keeps nothing that no person accepted and that untrusted text led to. */
function textOf(entry: Entry): [string, string][] {
  return entry.kind === "block" && entry.tainted !== true ? [[entry.name, entry.text]] : [];
}
