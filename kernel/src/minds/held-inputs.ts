import { unlessAborted } from "../base/abort.ts";
import { messageOf } from "../base/errors.ts";
import type { Process } from "../base/vocabulary/conversation.ts";
import type { NewEntry } from "../conversations/records.ts";
import { titleOf } from "./beginning.ts";
import { entryOf } from "./entries.ts";
import { placeOf, type ConversationHost } from "./host.ts";
import { changedMessages, type InterceptedMessage, textIn, unreadMessages } from "./intercepted-messages.ts";

/** A message that is held until it is given to the extensions, or disposed. */
interface Held extends Disposable {
  /** Asks the extensions about the message once it is durable, writes what they made of it, and lets it go. */
  ask(message: InterceptedMessage, durable: Promise<void>): void;
}

/** Messages that are looked through for unread ones after a kernel died. */
const maxUnread = 50;

/**
 * The person's messages about which extensions are asked. The channel makes no request while one is held, so that it never
 * reads a message before they did.
 */
export class HeldInputs {
  readonly #host: Pick<ConversationHost, "ports" | "log" | "workEnded"> & { readonly channel: Process };
  #count = 0;
  #free: PromiseWithResolvers<void> | null = null;
  #isStopping = false;

  constructor(host: Pick<ConversationHost, "ports" | "log" | "workEnded"> & { readonly channel: Process }) {
    this.#host = host;
  }

  get isHeld(): boolean {
    return this.#count > 0;
  }

  /** Holds a message that is about to be written. Null where nobody is asked about it. */
  hold(origin: string): Held | null {
    const { ports, log } = this.#host;
    if (origin !== "person" || !ports.intercept.isAsked("UserInput", log.header.agent)) return null;
    this.#count++;
    let isMine = true;
    return {
      ask: (message, durable) => {
        isMine = false;
        void this.#ask(message, durable);
      },
      [Symbol.dispose]: () => {
        if (isMine) this.#release();
      },
    };
  }

  /** Holds the messages about which a kernel that died did not ask, or whose answers it did not write. */
  async holdUnread(): Promise<void> {
    const { ports, log } = this.#host;
    const { agent } = log.header;
    // Nobody talks in a mind's own log.
    if (log.id === agent || !ports.intercept.isAsked("UserInput", agent)) return;
    const { channel } = this.#host;
    const entries = await ports.reader.entries(log.id, {
      audience: channel.id,
      kinds: ["message", "request"],
      limit: maxUnread,
      newest: true,
    });
    for (const message of unreadMessages(entries)) this.hold("person")?.ask(message, Promise.resolve());
  }

  /** Resolves once no message is held. Rejects with the signal's reason. */
  async released(signal: AbortSignal): Promise<void> {
    while (this.isHeld) await unlessAborted((this.#free ??= Promise.withResolvers()).promise, signal);
  }

  /** Nothing is written any more: the next kernel asks again. */
  stop(): void {
    this.#isStopping = true;
  }

  async #ask(message: InterceptedMessage, durable: Promise<void>): Promise<void> {
    const { ports, log, channel } = this.#host;
    try {
      await durable;
      const changes = await ports.intercept.userInput(
        placeOf(log, { record: channel }),
        textIn(message.parts),
      );
      // A kernel that stops makes no request any more, so it stays held.
      if (this.#isStopping) return;
      const changed = changedMessages(message, changes ?? [], ports);
      await log.append([...changed, ...this.#titled(message, changed)]);
    } catch (error) {
      ports.log.error(`A message was not passed to extensions: ${messageOf(error)}`, {
        conversation: log.id,
      });
    }
    this.#release();
  }

  /** Returns the title that a conversation gets from its first message, as the extensions left that. */
  #titled(message: InterceptedMessage, changed: readonly NewEntry[]): NewEntry[] {
    const { ports, log } = this.#host;
    if (log.state.title !== "") return [];
    const last = changed.findLast((entry) => entry.kind === "message");
    const title = titleOf((last ?? message).parts);
    const maker = { process: message.process, turn: message.turn, clock: ports.clock };
    return title === "" ? [] : [entryOf(maker, { kind: "meta", title }, { origin: "workspace" })];
  }

  #release(): void {
    if (--this.#count > 0) return;
    this.#free?.resolve();
    this.#free = null;
    this.#host.workEnded();
  }
}
