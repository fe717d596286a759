import { Emitter } from "../base/emitter.ts";
import { type Action, hasEnded } from "../base/vocabulary/action.ts";
import type { Ask } from "../base/vocabulary/ask.ts";
import type { ActionService, AskService } from "./ports.ts";

/** Actions and questions of one conversation that wait for the person at the same time. */
const maxShown = 3;
const maxSeeded = 1_000;

type Rooms = {
  readonly actions: Pick<ActionService, "changed" | "list" | "get">;
  readonly asks: AskService & { get(id: string): Promise<Ask | null> };
};

/** The actions and questions that clients see. */
export interface ShownDecisions {
  readonly actions: Pick<ActionService, "changed" | "list">;
  readonly asks: AskService;
  /** The number of actions that wait and are not shown yet. */
  readonly hiddenActions: () => number;
}

/**
 * Shows clients at most three unanswered actions and questions of a conversation, the oldest ones: the others come when one
 * of these has ended. Everything that waits for no conversation is shown.
 */
export async function openShownDecisions({ actions, asks }: Rooms): Promise<ShownDecisions> {
  const waiting = new Waiting();
  const changed = { actions: new Emitter<Action>(), asks: new Emitter<Ask>() };
  const showNext = async (id: string): Promise<void> => {
    const [action, ask] = await Promise.all([actions.get(id), asks.get(id)]);
    // It may have ended meanwhile.
    if (action?.state === "PendingApproval") changed.actions.emit(action);
    if (ask?.state === "Pending") changed.asks.emit(ask);
  };
  const take = (id: string, conversation: string | undefined, isOpen: boolean): boolean => {
    const next = waiting.take(id, conversation, isOpen);
    if (next !== null) void showNext(next).catch(() => undefined);
    return !isOpen || waiting.isShown(id, conversation);
  };
  actions.changed.on((action) => {
    if (take(action.id, conversationOf(action), !hasEnded(action.state))) changed.actions.emit(action);
  });
  asks.changed.on((ask) => {
    if (take(ask.id, ask.conversation, ask.state === "Pending")) changed.asks.emit(ask);
  });
  const [earlier, asked] = await Promise.all([
    actions.list({ state: "PendingApproval", limit: maxSeeded }),
    asks.list("Pending"),
  ]);
  const old = [
    ...earlier.map((action) => ({ id: action.id, conversation: conversationOf(action) })),
    ...asked.map(({ id, conversation }) => ({ id, conversation })),
  ];
  // Ids are in the order of creation.
  for (const { id, conversation } of old.toSorted((one, other) => (one.id < other.id ? -1 : 1)))
    waiting.take(id, conversation, true);
  const isShown = (action: Action): boolean =>
    action.state !== "PendingApproval" || waiting.isShown(action.id, conversationOf(action));
  return {
    actions: {
      changed: changed.actions,
      list: async (query) => (await actions.list(query)).filter(isShown),
    },
    asks: {
      changed: changed.asks,
      list: async (state) =>
        (await asks.list(state)).filter(
          (ask) => ask.state !== "Pending" || waiting.isShown(ask.id, ask.conversation),
        ),
      answer: (by, id, answer) => asks.answer(by, id, answer),
    },
    hiddenActions: () => waiting.hidden,
  };
}

/** Returns the conversation whose process proposed an action. */
function conversationOf({ on_behalf_of: causes = [] }: Action): string | undefined {
  return causes.find((actor) => actor.kind === "process")?.conversation;
}

/** The open actions and questions of each conversation, the oldest first. */
class Waiting {
  readonly #open = new Map<string, string[]>();

  get hidden(): number {
    return [...this.#open.values()].reduce((sum, { length }) => sum + Math.max(0, length - maxShown), 0);
  }

  /** Takes the state of one. Returns another one that is shown from now on. */
  take(id: string, conversation: string | undefined, isOpen: boolean): string | null {
    if (conversation === undefined) return null;
    const open = this.#open.get(conversation) ?? [];
    const at = open.indexOf(id);
    if (isOpen) {
      if (at === -1) this.#open.set(conversation, [...open, id]);
      return null;
    }
    if (at === -1) return null;
    const left = open.filter((each) => each !== id);
    if (left.length === 0) this.#open.delete(conversation);
    else this.#open.set(conversation, left);
    return at < maxShown ? (left[maxShown - 1] ?? null) : null;
  }

  isShown(id: string, conversation: string | undefined): boolean {
    if (conversation === undefined) return true;
    const open = this.#open.get(conversation) ?? [];
    const at = open.indexOf(id);
    return (at === -1 ? open.length : at) < maxShown;
  }
}
