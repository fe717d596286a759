import { Disposable } from "vscode";
import { refusalOf } from "../deciding/explain.ts";
import type { ClientContext } from "../feature.ts";
import type { Action, Conversation } from "../protocol.ts";
import {
  maxAttached,
  maxDecisions,
  maxPinned,
  type Attached,
  type ConversationsContract,
  type Decisions,
} from "../webviews/conversations/messages.ts";
import type { ShownEntry } from "../webviews/conversations/entries.ts";
import type { Card } from "../webviews/review/messages.ts";
import type { PageChannel } from "../views/page-channel.ts";
import { cardOf } from "../deciding/review-cards.ts";
import { conversationAnswers, entriesBefore } from "./answers.ts";
import { Feed } from "./feed.ts";
import type { Minds } from "./minds.ts";
import { conversationOf, headOf, isAskedIn, questionOf } from "./rows.ts";
import { shownDeltas, shownNews } from "./shown-entries.ts";

/** Deltas in one message to the page. */
const maxDeltasAtOnce = 256;
const maxEntriesAtOnce = 200;

/** The surroundings of a page. */
interface PageSurroundings {
  openInEditor(id: string): void;
  /** Called with the title of the conversation that is shown, when it may have changed. */
  titled?(title: string): void;
}

/** The extension's side of a page of conversations: what it follows, and what it was asked to show. */
export class ConversationsPage implements Disposable {
  readonly #context: ClientContext;
  readonly #openInEditor: (id: string) => void;
  readonly #titled: (title: string) => void;
  readonly #watching: Disposable;
  readonly answers: ReturnType<ConversationsPage["answersOf"]>;
  #channel: PageChannel<ConversationsContract> | undefined;
  #feed: Feed | undefined;
  /** Actions that the page's conversation proposed, as their entries name them. */
  #proposed = new Map<string, Action | null>();
  /** The last entry that the kernel was told the person has seen. */
  #readSeq = 0;
  #wanted: { id?: string; attached: Attached[] } = { attached: [] };

  constructor(
    context: ClientContext,
    minds: Minds,
    { openInEditor, titled = () => undefined }: PageSurroundings,
  ) {
    this.#context = context;
    this.#openInEditor = openInEditor;
    this.#titled = titled;
    this.answers = this.answersOf(minds);
    const { actions, asks } = context.models;
    this.#watching = Disposable.from(
      actions.onDidChange(() => this.#pushDecisions()),
      asks.onDidChange(() => this.#pushDecisions()),
    );
  }

  /** The conversation that the page shows. */
  get shown(): string | undefined {
    return this.#feed?.id;
  }

  connect(channel: PageChannel<ConversationsContract>): void {
    this.#channel = channel;
  }

  /** The page was hidden or closed, and follows nothing. */
  disconnect(): void {
    this.#channel = undefined;
    this.#unfollow();
  }

  want(id: string | undefined, attached: readonly Attached[] = []): void {
    if (id !== undefined) this.#wanted.id = id;
    this.#wanted.attached = [...this.#wanted.attached, ...attached].slice(-maxAttached);
    this.#channel?.push("wanted", {});
  }

  deleted(id: string): void {
    if (this.#feed?.id !== id) return;
    this.#unfollow();
    this.#channel?.push("gone", { id });
  }

  dispose(): void {
    this.#watching.dispose();
    this.disconnect();
  }

  answersOf(minds: Minds) {
    return {
      ...conversationAnswers(this.#context, minds),
      follow: async ({ id }: { readonly id: string }) => await this.#follow(id),
      unfollow: async () => {
        this.#unfollow();
        return {};
      },
      openInEditor: async ({ id }: { readonly id: string }) => {
        this.#openInEditor(id);
        return {};
      },
      wanted: async () => {
        const { id, attached } = this.#wanted;
        this.#wanted = { attached: [] };
        return { attached, ...(id === undefined ? {} : { id }) };
      },
    };
  }

  async #follow(id: string) {
    this.#unfollow();
    const { kernel } = this.#context;
    const [conversation, { entries, hasEarlier, lastSeq }, pins] = await Promise.all([
      kernel.request("lares/conversations/get", { id }),
      entriesBefore(this.#context, id),
      kernel.request("lares/conversations/entries", { id, kinds: ["pin"], limit: 1_000 }),
    ]);
    this.#unfollow();
    const pinned = new Set<string>();
    for (const entry of pins.items)
      if (entry.kind === "pin") pinned[entry.pinned ? "add" : "delete"](entry.entry);
    this.#proposed = new Map();
    this.#note(entries);
    const feed = new Feed(kernel, id, lastSeq, {
      entries: (told) => {
        const shown = shownNews(told);
        if (this.#note(shown)) this.#pushDecisions();
        for (let start = 0; start < shown.length; start += maxEntriesAtOnce)
          this.#channel?.push("entries", { id, entries: shown.slice(start, start + maxEntriesAtOnce) });
      },
      deltas: (told) => {
        const shown = told.flatMap(shownDeltas);
        for (let start = 0; start < shown.length; start += maxDeltasAtOnce)
          this.#channel?.push("deltas", { id, deltas: shown.slice(start, start + maxDeltasAtOnce) });
      },
      changed: (changed) => {
        this.#titled(changed.title);
        this.#channel?.push("head", headOf(changed, this.#waiting()));
        this.#markRead(changed);
      },
      gone: () => this.deleted(id),
    });
    this.#feed = feed;
    void feed.follow();
    this.#titled(conversation.title);
    this.#readSeq = 0;
    this.#markRead(conversation);
    await this.#load();
    return {
      head: headOf(conversation, this.#waiting()),
      entries,
      hasEarlier,
      pinned: [...pinned].slice(-maxPinned),
      decisions: this.#decisions(id),
    };
  }

  /** Tells the kernel what the person has seen: a page that is hidden follows nothing. */
  #markRead({ id, seq, unread, processes }: Conversation): void {
    const isAtWork = processes.some(({ kind, state }) => kind === "channel" && state === "Running");
    if (unread === 0 || seq <= this.#readSeq || isAtWork) return;
    this.#readSeq = seq;
    // It stays unread elsewhere if the kernel does not take it.
    this.#context.kernel.request("lares/conversations/update", { id, read: seq }).catch(() => undefined);
  }

  #unfollow(): void {
    this.#feed?.dispose();
    this.#feed = undefined;
  }

  #waiting() {
    const { actions, asks } = this.#context.models;
    return { actions: actions.pending, asks: asks.pending };
  }

  /** Returns true if an entry names a proposal that the page has not shown yet. */
  #note(entries: readonly ShownEntry[]): boolean {
    let isNew = false;
    for (const entry of entries) {
      if (entry.kind !== "action") continue;
      if (!this.#proposed.has(entry.ref)) isNew = true;
      // Asked again: it has changed.
      this.#proposed.set(entry.ref, null);
    }
    return isNew;
  }

  /** Asks for the proposals that are neither among the pending nor among the latest decided ones. */
  async #load(): Promise<void> {
    const { kernel, models } = this.#context;
    const missing = [...this.#proposed]
      .filter(([id, known]) => known === null && models.actions.get(id) === undefined)
      .slice(-maxDecisions);
    await Promise.all(
      missing.map(async ([id]) => {
        try {
          this.#proposed.set(id, await kernel.request("lares/actions/get", { id }));
        } catch (error) {
          // The kernel no longer has its record; its entry stays.
          if (refusalOf(error) !== "NotFound") throw error;
        }
      }),
    );
  }

  #decisions(id: string): Decisions {
    const { actions, asks } = this.#context.models;
    const own = new Map<string, Action>();
    for (const [ref, known] of this.#proposed) {
      const action = actions.get(ref) ?? known;
      if (action !== null) own.set(ref, action);
    }
    for (const action of actions.pending) if (conversationOf(action) === id) own.set(action.id, action);
    return {
      cards: [...own.values()].slice(-maxDecisions).map((action) => ownCard(action, id)),
      questions: asks.pending
        .filter((ask) => isAskedIn(ask, id))
        .slice(0, maxDecisions)
        .map(questionOf),
    };
  }

  #pushDecisions(): void {
    const id = this.#feed?.id;
    if (id === undefined || this.#channel === undefined) return;
    this.#channel.push("decisions", { id, ...this.#decisions(id) });
    // Known from before, or not among the latest.
    this.#load().then(
      () => this.#feed?.id === id && this.#channel?.push("decisions", { id, ...this.#decisions(id) }),
      () => undefined,
    );
  }
}

/** Returns the card of an action, without the sentence that this conversation led to it. */
function ownCard(action: Action, id: string): Card {
  const { requestedBy, ...card } = cardOf(action);
  const isOnlyHere = action.on_behalf_of?.length === 1 && conversationOf(action) === id;
  return requestedBy === undefined || isOnlyHere ? card : { ...card, requestedBy };
}
