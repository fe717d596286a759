import { Emitter } from "../base/emitter.ts";
import { messageOf } from "../base/errors.ts";
import { nextTurn } from "../base/next-turn.ts";
import type { Action } from "../base/vocabulary/action.ts";
import type { Ask } from "../base/vocabulary/ask.ts";
import { scheduleOrigin } from "../base/vocabulary/conversation.ts";
import type { Delta } from "../base/vocabulary/conversation-requests.ts";
import type { Conversations } from "../conversations/conversations.ts";
import type { Appended } from "../conversations/log-journal.ts";
import { isConversationId } from "../conversations/log-names.ts";
import { KeptBlocks } from "./kept-blocks.ts";
import { MindConversation } from "./conversation.ts";
import { Cortex } from "./cortex.ts";
import { FollowUpTimers } from "./follow-ups.ts";
import { Follower, pagesBehind, type Sink } from "./followers.ts";
import { isActive, type SchedulePrompt } from "./scheduled.ts";
import { beginConversation } from "./beginning.ts";
import { readerOf } from "./entry-reader.ts";
import { isShownAlone } from "./made-changes.ts";
import { Places } from "./places.ts";
import { AgentReturns } from "./agent-returns.ts";
import { GatheredChanges } from "./gathered-changes.ts";
import { RestingContexts } from "./resting-contexts.ts";
import type { MindPorts } from "./ports.ts";

interface MindsOptions {
  readonly ports: Omit<MindPorts, "reader" | "delta" | "blocks">;
  readonly conversations: Conversations;
  limits(): { readonly atOnce: number; readonly processes: number };
  /** A piece of an answer has come. */
  streamed?(conversation: string, delta: Delta): void;
  /** Returns how long conversations continue after the last trusted client left, milliseconds. */
  unattendedMs(): number;
}

interface Active {
  readonly opening: Promise<MindConversation>;
  /** Null while it is opened. */
  opened: MindConversation | null;
  users: number;
}

/** The conversations of all minds that are at work or in use. */
export class Minds implements AsyncDisposable {
  /** Emits the id of a conversation after its entries, at most ten times a second for each. */
  readonly changed: Emitter<string>;
  readonly conversations: Conversations;
  readonly ports: MindPorts;
  readonly #options: MindsOptions;
  readonly #places = new Places();
  readonly #resting = new RestingContexts();
  readonly #active = new Map<string, Active>();
  readonly #followers = new Map<string, Set<Follower>>();
  readonly #changes: GatheredChanges;
  readonly #returns = new AgentReturns();
  /** Workers that wait for a follow-up. */
  readonly #waiting: FollowUpTimers;
  /** Looks after the minds from time to time. */
  readonly cortex: Cortex;
  /** Conversations from which texts are being removed. `use` waits for the end of the removal. */
  readonly #kept = new Map<string, Promise<void>>();
  /** Closings that are not done. */
  readonly #closing = new Map<string, Promise<void>>();
  #isRunning = false;
  /** Runs while no trusted client is there. */
  #leaving: Disposable | null = null;

  constructor(options: MindsOptions) {
    this.#options = options;
    const { conversations } = options;
    this.conversations = conversations;
    this.#changes = new GatheredChanges(options.ports.clock);
    this.changed = this.#changes.changed;
    const blocks = new KeptBlocks(conversations, options.ports);
    conversations.appended.on((appended) => {
      blocks.take(appended);
      this.#take(appended);
    });
    this.ports = {
      ...options.ports,
      reader: readerOf(conversations),
      blocks,
      delta: (id, delta) => {
        options.streamed?.(id, delta);
        for (const follower of this.#followers.get(id) ?? []) follower.delta(delta);
      },
    };
    this.#waiting = new FollowUpTimers(this.ports.clock, (id, worker, expires) => {
      this.use(id, ({ followUps }) => followUps.overdue(worker, expires)).catch((error: unknown) =>
        this.ports.log.error(`A worker that waits could not be ended: ${messageOf(error)}`, {
          conversation: id,
        }),
      );
    });
    this.cortex = new Cortex({
      ports: this.ports,
      conversations,
      useMind: (agent, work) => this.useMind(agent, work),
    });
  }

  /** Calls with the log of a mind itself at work. */
  async useMind<Result>(agent: string, work: (mind: MindConversation) => Promise<Result>): Promise<Result> {
    // It is begun if it is not there.
    (await this.conversations.openMind(agent))[Symbol.dispose]();
    return await this.use(agent, work);
  }

  /** True while a process works. One that only waits for a person does not count: the next kernel continues it. */
  get isBusy(): boolean {
    return [...this.#active.values()].some(
      ({ users, opened }) => users > 0 || opened === null || !opened.isOnlyWaiting,
    );
  }

  /** True while a conversation is used, or something works in it. */
  isActive(id: string): boolean {
    return this.#active.has(id);
  }

  /** Continues what had not ended when the last kernel stopped. */
  async start(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    await this.#resumeAll();
    this.agentsReturned();
  }

  /** Agents are there again: what was sent to them meanwhile is answered. */
  agentsReturned(): void {
    if (!this.#isRunning) return;
    for (const id of this.#returns.ready((agent) => this.ports.mindOf(agent) !== null))
      this.use(id, async (conversation) => conversation.wake()).catch((error: unknown) =>
        this.ports.log.error(`What was sent to an agent was not answered: ${messageOf(error)}`, {
          conversation: id,
        }),
      );
  }

  async #resumeAll(): Promise<void> {
    for (const id of await this.conversations.busy())
      await this.use(id, async (conversation) => {
        await this.#resume(conversation);
        this.#waiting.take(id, conversation.followUps.waiting);
      }).catch((error: unknown) =>
        this.ports.log.error(`A conversation could not be continued: ${messageOf(error)}`, {
          conversation: id,
        }),
      );
    await this.cortex.start();
  }

  /** Says whether a trusted client is there. Some time after the last one left, each process stops at its next request. */
  setAttended(isAttended: boolean): void {
    if (isAttended === (this.#leaving === null)) return;
    this.#leaving?.[Symbol.dispose]();
    this.#leaving = null;
    if (isAttended) {
      // Those that stopped meanwhile.
      if (this.#isRunning)
        void this.#resumeAll().catch((error: unknown) =>
          this.ports.log.error(`Conversations could not be continued: ${messageOf(error)}`),
        );
      return;
    }
    this.#leaving = this.ports.clock.timer(this.#options.unattendedMs(), () => {
      this.cortex.stop();
      for (const { opening } of this.#active.values())
        opening.then((conversation) => conversation.stopAtNextRequest()).catch(() => undefined);
    });
  }

  /** Stops all work; `start` continues it. */
  async pause(): Promise<void> {
    this.#isRunning = false;
    this.cortex.stop();
    this.#waiting[Symbol.dispose]();
    await Promise.all([...this.#active.keys()].map((id) => this.#close(id)));
  }

  /** Calls with the conversation at work, which stays open as long as it is used or works. */
  async use<Result>(id: string, work: (conversation: MindConversation) => Promise<Result>): Promise<Result> {
    for (;;) {
      const earlier = this.#kept.get(id) ?? this.#closing.get(id);
      if (earlier === undefined) break;
      await earlier;
    }
    const active = this.#active.get(id) ?? this.#open(id);
    active.users++;
    try {
      return await work(await active.opening);
    } finally {
      active.users--;
      void this.#closeIfIdle(id, active);
    }
  }

  /** Begins a conversation with what a schedule says. An event that is delivered again begins no other one. */
  async prompt(agent: string, prompt: SchedulePrompt, event: string): Promise<void> {
    if (!isActive(prompt, this.ports.clock.now())) return;
    if ((await this.conversations.find(event)) === null) {
      using opened = await this.conversations.create(agent, event);
      await beginConversation(opened.log, this.ports.clock, { title: prompt.name });
    }
    await this.use(event, async (conversation) => {
      const isNew = (await this.conversations.entry(event, event)) === null;
      if (isNew)
        await conversation.send([{ type: "text", text: prompt.text }], event, { origin: scheduleOrigin });
      // It may have been answered already.
      else await this.#resume(conversation);
    });
  }

  /** Closes a conversation, because its log goes away. */
  async release(id: string): Promise<void> {
    await this.#close(id);
    this.#resting.forget(id);
  }

  /**
   * Stops these conversations, runs a removal, and resumes what was at work. Nothing can start in them meanwhile, because
   * it would read texts that are being removed and write them again.
   */
  async removingFrom<Result>(ids: readonly string[], work: () => Promise<Result>): Promise<Result> {
    const interrupted = ids.filter((id) => this.#active.has(id));
    const { promise, resolve } = Promise.withResolvers<void>();
    for (const id of ids) this.#kept.set(id, promise);
    try {
      for (const id of ids) await this.release(id);
      return await work();
    } finally {
      for (const id of ids) if (this.#kept.get(id) === promise) this.#kept.delete(id);
      resolve();
      if (this.#isRunning)
        for (const id of interrupted)
          await this.use(id, (conversation) => this.#resume(conversation)).catch((error: unknown) =>
            this.ports.log.error(`A conversation could not be continued: ${messageOf(error)}`, {
              conversation: id,
            }),
          );
    }
  }

  /** Passes a conversation's entries behind a seq on, then new ones. Returns the seq of the last one as of now. */
  async follow(id: string, from: number, sink: Sink): Promise<Disposable & { readonly seq: number }> {
    const used = await this.conversations.open(id);
    const { log } = used;
    const follower = new Follower(sink, from, this.ports.clock);
    const followers = this.#followers.get(id) ?? new Set();
    this.#followers.set(id, followers.add(follower));
    const listening = log.appended.on((entries) => follower.take(entries));
    const { seq } = log.state;
    // After the caller knows the subscription.
    nextTurn()
      .then(() => follower.replay(pagesBehind(this.conversations, id, from)))
      .catch((error: unknown) =>
        this.ports.log.error(`Entries could not be read for a client: ${messageOf(error)}`, {
          conversation: id,
        }),
      );
    return {
      seq,
      [Symbol.dispose]: () => {
        follower[Symbol.dispose]();
        listening[Symbol.dispose]();
        followers.delete(follower);
        if (followers.size === 0) this.#followers.delete(id);
        used[Symbol.dispose]();
      },
    };
  }

  /** An action has changed: conversations that wait for it continue, and those that caused it show it. */
  actionChanged(action: Action): void {
    for (const { opening } of this.#active.values())
      this.#written(
        opening.then(({ decisions }) => decisions.actionChanged(action)),
        "an action",
      );
    const causes = (action.on_behalf_of ?? []).flatMap((by) =>
      by.kind === "process" ? by.conversation : [],
    );
    if (this.#isRunning)
      for (const id of new Set(causes))
        this.#wakeFor(action.id, id, isShownAlone(action)).catch(() => undefined);
  }

  /** A question has changed: the conversation that asked it writes its end down. */
  askChanged(ask: Ask): void {
    if (ask.state === "Pending" || ask.conversation === undefined) return;
    const opening = this.#active.get(ask.conversation)?.opening;
    this.#written(
      opening?.then(({ decisions }) => decisions.askChanged(ask)),
      "a question",
    );
    if (this.#isRunning) void this.#wakeFor(ask.id, ask.conversation).catch(() => undefined);
  }

  #written(writing: Promise<void> | undefined, what: string): void {
    writing?.catch((error: unknown) =>
      this.ports.log.error(`The end of ${what} could not be written: ${messageOf(error)}`),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#leaving?.[Symbol.dispose]();
    await this.pause();
    this.#changes[Symbol.dispose]();
    await this.conversations[Symbol.asyncDispose]();
  }

  /** A conversation that rests waits for the decision too. `isShown`: it is written down there in any case. */
  async #wakeFor(decision: string, conversation: string, isShown = false): Promise<void> {
    if (this.#active.has(conversation)) return;
    const row = await this.conversations.find(conversation);
    if (row?.state.references.some(({ ref }) => ref === decision) === true)
      await this.use(conversation, (opened) => this.#resume(opened));
    else if (isShown && row != null)
      await this.use(conversation, ({ decisions }) => decisions.check(decision));
  }

  /** Resumes the work, unless it began in a rehearsal and this kernel asks the person's models, or the other way round. */
  async #resume(conversation: MindConversation): Promise<void> {
    const { asked } = conversation.log.state;
    if (asked === "" || !this.ports.models.isOfOtherRun(asked)) await conversation.resume();
  }

  #open(id: string): Active {
    const active: Active = { opening: this.#begin(id), opened: null, users: 0 };
    this.#active.set(id, active);
    active.opening.then(
      (opened) => void (active.opened = opened),
      () => {
        if (this.#active.get(id) === active) this.#active.delete(id);
      },
    );
    return active;
  }

  async #begin(id: string): Promise<MindConversation> {
    const used = await this.conversations.open(id);
    // A kernel may have died between the beginnings of the log and of its channel, and a fork may begin before its channel.
    if (isConversationId(id) && !used.log.state.processes.some(({ kind }) => kind === "channel"))
      await beginConversation(used.log, this.ports.clock, {}).catch((error: unknown) => {
        used[Symbol.dispose]();
        throw error;
      });
    const conversation = new MindConversation(
      {
        ports: this.ports,
        places: this.#places,
        resting: this.#resting,
        limits: () => this.#options.limits(),
        rested: () => {
          const active = this.#active.get(id);
          if (active !== undefined) void this.#closeIfIdle(id, active);
        },
      },
      used,
    );
    await conversation.inputs.holdUnread();
    return conversation;
  }

  async #closeIfIdle(id: string, active: Active): Promise<void> {
    const conversation = await active.opening.catch(() => null);
    if (active.users === 0 && conversation?.isIdle === true && this.#active.get(id) === active)
      await this.#close(id);
  }

  #close(id: string): Promise<void> {
    const active = this.#active.get(id);
    if (active === undefined) return Promise.resolve();
    this.#active.delete(id);
    const closing = active.opening
      .then((conversation) => conversation[Symbol.asyncDispose]())
      .catch((error: unknown) => this.ports.log.error(`A conversation was not closed: ${messageOf(error)}`))
      .finally(() => {
        if (this.#closing.get(id) === closing) this.#closing.delete(id);
      });
    this.#closing.set(id, closing);
    return closing;
  }

  #take({ header: { agent }, entries }: Appended): void {
    const id = entries[0]?.conversation;
    if (id === undefined) return;
    this.#changes.add(id);
    if (this.#returns.take(id, agent, entries, () => this.ports.mindOf(agent) !== null))
      void nextTurn().then(() => this.agentsReturned());
    if (this.#isRunning)
      this.#waiting.take(
        id,
        entries.flatMap((entry) => (entry.kind === "process" ? [entry.value] : [])),
      );
    if (this.#isRunning && id !== agent) this.cortex.hasNews(agent);
  }
}
