import { commands, Disposable, ViewColumn, window, type WebviewPanel } from "vscode";
import { actionArgument } from "../deciding/arguments.ts";
import type { ClientContext, Feature } from "../feature.ts";
import type { Action } from "../protocol.ts";
import {
  maxCardsAtOnce,
  reviewContract,
  type Card,
  type ReviewContract,
} from "../webviews/review/messages.ts";
import type { Answers, PageChannel } from "./page-channel.ts";
import { cardReaders, decisionAnswers } from "./review-answers.ts";
import { approveEach, rejectEach, type ShownItems } from "../deciding/review-batches.ts";
import { cardOf } from "../deciding/review-cards.ts";
import { commonAnswers, onCommonState } from "./common-state.ts";
import { openPage } from "./webview-host.ts";

/** The type of the review page's panel. */
export const reviewPanel = "lares.review";
/**
 * The review page, in its own editor. At most one is open. It is kept while hidden, because a person goes from it to a
 * diff and back, with a selection and a half-written reason.
 */
export const review: Feature = (context) => {
  let open: {
    readonly panel: WebviewPanel;
    focus(id: string | undefined): void;
    readonly shown: ShownItems;
  } | null = null;
  const fill = (panel: WebviewPanel): void => {
    const page = fillPage(context, panel);
    open = page;
    panel.onDidDispose(() => {
      if (open === page) open = null;
    });
  };
  const show = (given?: unknown): void => {
    const id = actionArgument(given)?.id;
    if (open === null) {
      fill(
        window.createWebviewPanel(reviewPanel, "Review", ViewColumn.Active, {
          retainContextWhenHidden: true,
          enableFindWidget: true,
        }),
      );
    } else open.panel.reveal();
    open?.focus(id);
  };
  const batch = (id: string, act: (shown: ShownItems) => Promise<unknown>): Disposable =>
    commands.registerCommand(id, async () => {
      if (open === null) return show();
      await act(open.shown);
    });
  return Disposable.from(
    commands.registerCommand("lares.review", show),
    batch("lares.approveAllShown", ({ items }) => approveEach(context, items, "shown")),
    batch("lares.rejectAllShown", ({ items }) => rejectEach(context, items, "shown")),
    window.registerWebviewPanelSerializer(reviewPanel, {
      deserializeWebviewPanel: async (panel) => (open === null ? fill(panel) : panel.dispose()),
    }),
    { dispose: () => open?.panel.dispose() },
  );
};

function fillPage(context: ClientContext, panel: WebviewPanel) {
  const { models } = context;
  let wanted: string | undefined;
  const shown: { items: ShownItems["items"] } = { items: [] };
  const known = new KnownCards(context);
  const channel: PageChannel<ReviewContract> = openPage(
    panel.webview,
    context,
    { name: "review", title: "Lares Review" },
    reviewContract,
    {
      ...commonAnswers(context),
      ...decisionAnswers(context),
      ...cardReaders(context),
      cards: async () => {
        const { cards } = known.all();
        for (let start = maxCardsAtOnce; start < cards.length; start += maxCardsAtOnce)
          setImmediate(() =>
            channel.push("changed", { cards: cards.slice(start, start + maxCardsAtOnce), gone: [] }),
          );
        return { cards: cards.slice(0, maxCardsAtOnce) };
      },
      focus: async () => {
        const id = wanted;
        wanted = undefined;
        return id === undefined ? {} : { id };
      },
      shown: async ({ items }) => {
        shown.items = items;
        return {};
      },
    } satisfies Answers<ReviewContract>,
  );
  const parts = Disposable.from(
    channel,
    onCommonState(context, (commonState) => channel.push("commonState", commonState)),
    models.actions.onDidChange(() => {
      const { cards, gone } = known.changes();
      for (let start = 0; start < cards.length || (start === 0 && gone.length > 0); start += maxCardsAtOnce)
        channel.push("changed", {
          cards: cards.slice(start, start + maxCardsAtOnce),
          gone: start === 0 ? gone : [],
        });
    }),
  );
  panel.onDidDispose(() => parts.dispose());
  return {
    panel,
    shown,
    focus: (id: string | undefined): void => {
      if (id === undefined) return;
      wanted = id;
      channel.push("focus", {});
    },
  };
}

/** The cards that the page has: only cards of changed actions are built and sent again. */
export class KnownCards {
  readonly #models: Pick<ClientContext["models"], "actions">;
  readonly #known = new Map<string, Action>();

  constructor({ models }: { readonly models: Pick<ClientContext["models"], "actions"> }) {
    this.#models = models;
  }

  all(): { readonly cards: Card[] } {
    this.#known.clear();
    return { cards: this.changes().cards };
  }

  changes(): { readonly cards: Card[]; readonly gone: string[] } {
    const { pending, recent } = this.#models.actions;
    const cards: Card[] = [];
    const gone = new Set(this.#known.keys());
    for (const action of [...pending, ...recent]) {
      gone.delete(action.id);
      // The model returns the same object for an action until the kernel reports it again.
      if (this.#known.get(action.id) === action) continue;
      this.#known.set(action.id, action);
      cards.push(cardOf(action));
    }
    for (const id of gone) this.#known.delete(id);
    return { cards, gone: [...gone] };
  }
}
