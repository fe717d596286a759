import type { ConversationLog } from "../conversations/conversation-log.ts";
import type { ContextTail } from "./context-tail.ts";

/** Contexts that are kept. */
const maxKept = 8;

interface Kept {
  readonly log: ConversationLog;
  /** The seq of the conversation's last entry when it came to rest. */
  readonly seq: number;
  readonly tail: ContextTail;
}

/** The contexts of channels whose conversations rest, so that they need not be read again for the next message. */
export class RestingContexts {
  /** By conversation, in the order in which they came to rest. */
  readonly #kept = new Map<string, Kept>();

  /** Keeps a context that has taken all entries of its conversation. */
  keep(log: ConversationLog, tail: ContextTail): void {
    this.forget(log.id);
    this.#kept.set(log.id, { log, seq: log.state.seq, tail });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > maxKept && oldest !== undefined) this.forget(oldest);
  }

  /** Removes and returns the context; null if the log was opened again, or if entries were written without it. */
  take(log: ConversationLog): ContextTail | null {
    const kept = this.#kept.get(log.id);
    this.forget(log.id);
    return kept?.log === log && kept.seq === log.state.seq ? kept.tail : null;
  }

  forget(id: string): void {
    this.#kept.delete(id);
  }
}
