import { setTimeout as pause } from "node:timers/promises";
import type { Action } from "../../base/vocabulary/action.ts";
import type { Ask } from "../../base/vocabulary/ask.ts";
import type { Conversation } from "../../base/vocabulary/conversation.ts";
import { whenReady } from "../command.ts";
import { KernelClient } from "../kernel-client.ts";
import type { KernelConnection } from "../ports.ts";
import type { Notice } from "../render/model.ts";
import type { News } from "./state/transcript.ts";

interface LinkListeners {
  /** Entries and pieces of messages of the conversation that is followed. */
  news(news: readonly News[]): void;
  conversation(conversation: Conversation): void;
  /** The conversation that is followed was deleted. */
  deleted(): void;
  action(action: Action): void;
  ask(ask: Ask): void;
  /** An agent has a message for the person, who wants it at a terminal. Absent: it is shown elsewhere. */
  readonly notice?: ((notice: Notice) => void) | undefined;
  /** The kernel has gone, or the next one has what it needs. */
  cutOff(isCutOff: boolean): void;
  /** No kernel could be started again. */
  gone(reason: string): void;
}

interface LinkPorts {
  connect(): Promise<KernelConnection>;
  readonly interrupted: AbortSignal;
  /** A person sees what is passed on. */
  readonly isWatched: boolean;
}

/** Pieces that arrive within this time are passed on together. */
const gatherMs = 16;
/** How often a kernel that only has to tell something is asked for a sign of life. */
const heartbeatMs = 2_000;
const attempts = 5;
const betweenAttemptsMs = 300;

/**
 * Follows one conversation at a time, over the deaths of kernels: joins the next one, and continues behind the last
 * entry that it passed on.
 */
export class ConversationLink implements AsyncDisposable {
  readonly #ports: LinkPorts;
  readonly #listeners: LinkListeners;
  #connection: KernelConnection;
  #kernel: KernelClient;
  #listening = new DisposableStack();
  #followed: { readonly id: string; seq: number; subscription: string | null } | null = null;
  #news: News[] = [];
  #timer: NodeJS.Timeout | null = null;
  #back: Promise<void> = Promise.resolve();
  #isOver = false;
  readonly #resources = new DisposableStack();

  constructor(connection: KernelConnection, ports: LinkPorts, listeners: LinkListeners) {
    this.#ports = ports;
    this.#listeners = listeners;
    this.#connection = connection;
    this.#kernel = new KernelClient(connection);
    this.#listen();
    this.#beat();
  }

  /** A connection notices a kernel that does not answer only while something is asked. */
  #beat(): void {
    let isAsking = false;
    const timer = setInterval(() => {
      if (isAsking) return;
      isAsking = true;
      const answered = (): void => void (isAsking = false);
      this.#kernel.status().then(answered, answered);
    }, heartbeatMs).unref();
    this.#resources.defer(() => clearInterval(timer));
  }

  get kernel(): KernelClient {
    return this.#kernel;
  }

  /** Follows a conversation from its beginning, instead of the one before. */
  async follow(id: string): Promise<void> {
    const before = this.#followed;
    this.#followed = { id, seq: 0, subscription: null };
    this.#news = [];
    if (before?.subscription != null)
      await this.#kernel.unfollowConversation(before.subscription).catch(() => null);
    await this.#continue();
  }

  /**
   * Asks the kernel. A request that does no harm when it is made twice is repeated where a kernel died meanwhile.
   */
  async ask<Result>(request: (kernel: KernelClient) => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      const connection = this.#connection;
      try {
        return await request(this.#kernel);
      } catch (error) {
        // The connection says that it is closed a moment after its requests failed.
        await pause(gatherMs);
        await this.#back;
        if (connection === this.#connection || this.#isOver || attempt === attempts) throw error;
      }
    }
  }

  #listen(): void {
    const kernel = this.#kernel;
    const listening = this.#listening;
    listening.use(
      kernel.on("lares/conversations/entry", ({ entry }) => {
        const followed = this.#followed;
        if (entry.conversation !== followed?.id || entry.seq <= followed.seq) return;
        followed.seq = entry.seq;
        this.#take({ kind: "entry", entry });
      }),
    );
    listening.use(
      kernel.on("lares/conversations/delta", ({ subscription, ...delta }) => {
        const followed = this.#followed;
        if (followed === null || (followed.subscription !== null && followed.subscription !== subscription))
          return;
        this.#take({ kind: "delta", delta });
      }),
    );
    listening.use(
      kernel.on("lares/conversations/changed", (conversation) => {
        if (conversation.id === this.#followed?.id) this.#listeners.conversation(conversation);
      }),
    );
    listening.use(
      kernel.on("lares/conversations/deleted", ({ id }) => {
        if (id === this.#followed?.id) this.#listeners.deleted();
      }),
    );
    listening.use(kernel.on("lares/actions/changed", (action) => this.#listeners.action(action)));
    listening.use(kernel.on("lares/asks/changed", (ask) => this.#concerns(ask)));
    listening.use(kernel.on("lares/notify", (notice) => this.#tell(notice)));
    void kernel.closed.then(({ reason }) => {
      if (!this.#isOver) this.#back = this.#rejoin(reason);
    });
  }

  #concerns(ask: Ask): void {
    if (ask.conversation === undefined || ask.conversation === this.#followed?.id) this.#listeners.ask(ask);
  }

  #tell(notice: Notice): void {
    const { notice: tell } = this.#listeners;
    if (tell === undefined || notice.channels?.includes("terminal") === false) return;
    tell(notice);
    // A person has it on the screen. If that cannot be stored, they see it once more elsewhere.
    if (this.#ports.isWatched && notice.id !== undefined)
      this.#kernel.dismissNotifications([notice.id]).catch(() => undefined);
  }

  async #continue(): Promise<void> {
    const followed = this.#followed;
    if (followed === null) return;
    const kernel = this.#kernel;
    const { subscription } = await kernel.followConversation(followed.id, followed.seq);
    followed.subscription = subscription;
    for (const ask of await kernel.asks("Pending")) this.#concerns(ask);
    this.#listeners.conversation(await kernel.conversation(followed.id));
  }

  async #rejoin(reason: string): Promise<void> {
    this.#listening.dispose();
    this.#listeners.cutOff(true);
    if (this.#followed !== null) this.#followed.subscription = null;
    for (let attempt = 1; attempt <= attempts && !this.#isOver; attempt++) {
      try {
        this.#connection = await this.#ports.connect();
        this.#kernel = new KernelClient(this.#connection);
        this.#listening = new DisposableStack();
        await whenReady(this.#kernel, this.#ports.interrupted);
        this.#listen();
        await this.#continue();
        this.#listeners.cutOff(false);
        return;
      } catch {
        await pause(betweenAttemptsMs * attempt);
      }
    }
    if (!this.#isOver) this.#listeners.gone(reason);
  }

  #take(news: News): void {
    this.#news.push(news);
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      const gathered = this.#news;
      this.#news = [];
      if (gathered.length > 0 && !this.#isOver) this.#listeners.news(gathered);
    }, gatherMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#listening.dispose();
    this.#resources.dispose();
    await this.#connection[Symbol.asyncDispose]();
  }
}
