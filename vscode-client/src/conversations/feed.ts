import { Disposable } from "vscode";
import { refusalOf } from "../deciding/explain.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { Conversation, Delta, Entry, NotificationParamsOf } from "../protocol.ts";

/** Notifications of subscriptions that the kernel has not yet named to this client; of more, the oldest are dropped. */
const maxEarly = 1_000;
/** Deltas and entries are passed on together. */
const passEveryMs = 30;

/** Receives what happens in a conversation. */
interface FeedSink {
  entries(entries: readonly Entry[]): void;
  deltas(deltas: readonly Delta[]): void;
  changed(conversation: Conversation): void;
  gone(): void;
}

type Told =
  NotificationParamsOf<"lares/conversations/entry"> | NotificationParamsOf<"lares/conversations/delta">;

/**
 * Follows a conversation from a seq until it is disposed: every entry once and in order, and deltas before the entries
 * that replace them. Follows again where it was when the kernel's process was replaced.
 */
export class Feed implements Disposable {
  readonly id: string;
  readonly #kernel: Kernel;
  readonly #sink: FeedSink;
  readonly #parts: Disposable;
  #seq: number;
  /** The last seq of the conversation for which this was followed again. */
  #caughtUpTo = 0;
  #subscription: string | undefined;
  /** Counts the attempts to follow: the answer to an older one is not used. */
  #round = 0;
  #early: Told[] = [];
  #entries: Entry[] = [];
  #deltas: Delta[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(kernel: Kernel, id: string, from: number, sink: FeedSink) {
    this.#kernel = kernel;
    this.id = id;
    this.#seq = from;
    this.#sink = sink;
    this.#parts = Disposable.from(
      kernel.on("lares/conversations/entry", (told) => this.#hear(told)),
      kernel.on("lares/conversations/delta", (told) => this.#hear(told)),
      kernel.on("lares/conversations/changed", (conversation) => {
        if (conversation.id !== id) return;
        this.#pass();
        sink.changed(conversation);
        this.#catchUp(conversation.seq);
      }),
      kernel.onDidChangeState(({ kind }) => {
        if (kind === "running") void this.follow();
        // A kernel that is only silent still has the subscription.
        else if (kind !== "silent") this.#forget(kind === "untrusted");
      }),
    );
  }

  /** Rejects if the conversation cannot be followed, unless another attempt has begun. */
  async follow(): Promise<void> {
    if (this.#isOver || this.#subscription !== undefined) return;
    const round = ++this.#round;
    this.#early = [];
    try {
      const { subscription } = await this.#kernel.request("lares/conversations/follow", {
        id: this.id,
        from: this.#seq,
      });
      if (this.#isOver || round !== this.#round) return this.#unfollow(subscription);
      this.#subscription = subscription;
      const early = this.#early;
      this.#early = [];
      for (const told of early) this.#hear(told);
    } catch (error) {
      // The kernel is shutting down or gone, and its next state follows again; or the conversation was deleted.
      if (!this.#isOver && refusalOf(error) === "NotFound") this.#sink.gone();
    }
  }

  dispose(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#parts.dispose();
    if (this.#subscription !== undefined) this.#unfollow(this.#subscription);
  }

  /**
   * The kernel reports a change after its entries. Where they did not come, it is another kernel, which does not know
   * the subscription.
   */
  #catchUp(seq: number): void {
    if (seq <= this.#seq || seq <= this.#caughtUpTo || this.#subscription === undefined) return;
    this.#caughtUpTo = seq;
    this.#forget(true);
    void this.follow();
  }

  #forget(isThere: boolean): void {
    const subscription = this.#subscription;
    this.#subscription = undefined;
    if (isThere && subscription !== undefined) this.#unfollow(subscription);
  }

  #unfollow(subscription: string): void {
    // An error means that the connection is over, and the subscription with it.
    this.#kernel.request("lares/conversations/unfollow", { subscription }).catch(() => undefined);
  }

  #hear(told: Told): void {
    if (this.#subscription === undefined) {
      this.#early.push(told);
      if (this.#early.length > maxEarly) this.#early.shift();
      return;
    }
    if (told.subscription !== this.#subscription) return;
    if ("entry" in told) {
      if (told.entry.seq <= this.#seq) return;
      this.#seq = told.entry.seq;
      // Earlier streamed text is passed on first.
      if (this.#deltas.length > 0) this.#pass();
      this.#entries.push(told.entry);
    } else {
      if (this.#entries.length > 0) this.#pass();
      const { process, message, part, type, text } = told;
      const last = this.#deltas.at(-1);
      if (last !== undefined && last.message === message && last.part === part && last.type === type)
        this.#deltas[this.#deltas.length - 1] = { ...last, text: last.text + text };
      else this.#deltas.push({ process, message, part, type, text });
    }
    this.#timer ??= setTimeout(() => this.#pass(), passEveryMs);
  }

  #pass(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const [entries, deltas] = [this.#entries, this.#deltas];
    this.#entries = [];
    this.#deltas = [];
    if (deltas.length > 0) this.#sink.deltas(deltas);
    if (entries.length > 0) this.#sink.entries(entries);
  }
}
