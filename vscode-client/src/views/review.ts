import { commands, Disposable, Range, Uri, ViewColumn, window, type WebviewPanel } from "vscode";
import { actionArgument } from "../commands/arguments.ts";
import { confirmUndo } from "../commands/confirm-undo.ts";
import { approveShown, withoutParts } from "../commands/decide.ts";
import type { ClientContext, Feature } from "../feature.ts";
import type { Action } from "../protocol.ts";
import {
  maxCardsAtOnce,
  reviewContract,
  type Approval,
  type Card,
  type ReviewContract,
} from "../webviews/review/messages.ts";
import type { Answers, Conversation } from "./conversation.ts";
import {
  approveBatch,
  approveEach,
  outcomeOf,
  rejectBatch,
  rejectEach,
  undoBatch,
  type ShownItems,
} from "./review-batches.ts";
import { cardOf, filesOf } from "./review-cards.ts";
import { fileDiffOf } from "./review-diff.ts";
import { pictureOf } from "./review-pictures.ts";
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
  const conversation: Conversation<ReviewContract> = openPage(
    panel.webview,
    context,
    { name: "review", title: "Lares Review" },
    reviewContract,
    {
      ...commonAnswers(context),
      ...decisions(context),
      ...readers(context),
      cards: async () => {
        const { cards } = known.all();
        for (let start = maxCardsAtOnce; start < cards.length; start += maxCardsAtOnce)
          setImmediate(() =>
            conversation.push("changed", { cards: cards.slice(start, start + maxCardsAtOnce), gone: [] }),
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
    conversation,
    onCommonState(context, (commonState) => conversation.push("commonState", commonState)),
    models.actions.onDidChange(() => {
      const { cards, gone } = known.changes();
      for (let start = 0; start < cards.length || (start === 0 && gone.length > 0); start += maxCardsAtOnce)
        conversation.push("changed", {
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
      conversation.push("focus", {});
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

/** Returns the answers to the page's decisions; each is bound to the digest of the card that was pressed. */
function decisions(context: ClientContext) {
  const { kernel, models } = context;
  return {
    approve: async ({ id, digest, effects, leftOut = [], scope }: Approval) => {
      const action = await actionOf(context, id);
      if (action.state !== "PendingApproval") return { outcome: outcomeOf(action) };
      const bound = digest as Action["digest"];
      const parts =
        leftOut.length > 0 ? await withoutParts(context, { id, digest }, effects, leftOut) : { effects };
      const rules = scope === undefined ? undefined : action.scopes?.find((one) => one.id === scope)?.rules;
      if (scope !== undefined && rules === undefined) throw new Error("This scope is not offered any more.");
      const done = await approveShown(context, action, {
        digest: bound,
        ...parts,
        rules,
        answeredBy: "lares.approve",
      });
      return { outcome: outcomeOf(done ?? action) };
    },
    approveAll: ({ items }: ShownItems) => approveBatch(context, items),
    reject: async ({ id, reason }: { readonly id: string; readonly reason?: string | undefined }) => ({
      outcome: outcomeOf(await kernel.request("lares/actions/reject", { id, ...(reason ? { reason } : {}) })),
    }),
    rejectAll: ({ items, reason }: ShownItems & { readonly reason?: string | undefined }) =>
      rejectBatch(context, items, reason),
    undo: async ({ id }: { readonly id: string }) => {
      const action = await actionOf(context, id);
      if (action.state === "Committed" && !(await confirmUndo(action))) return { outcome: outcomeOf(action) };
      return { outcome: outcomeOf(await kernel.request("lares/actions/undo", { id })) };
    },
    undoAll: ({ items }: ShownItems) => undoBatch(context, items),
    rebase: async ({ id }: { readonly id: string }) => {
      const fresh = await kernel.request("lares/actions/rebase", { id });
      return { id: fresh.id };
    },
    showRule: async ({ id }: { readonly id: string }) => {
      await showRule(models.actions.get(id));
      return {};
    },
    showDecisions: async () => {
      await commands.executeCommand("lares.openDecisions");
      return {};
    },
  };
}

/** Returns the answers to the page's requests that only read. */
function readers(context: ClientContext) {
  const { kernel, models } = context;
  return {
    files: async ({ id }: { readonly id: string }) => ({ files: filesOf(await actionOf(context, id)) }),
    diff: async ({ id, effect }: { readonly id: string; readonly effect: number }) => {
      const action = await models.actions.withDiffs(id);
      const known = action.effects[effect]?.diff;
      const diff = known ?? (await kernel.request("lares/actions/diff", { id, effect })).diff;
      return fileDiffOf(action.digest, diff);
    },
    picture: async ({ id, effect }: { readonly id: string; readonly effect: number }) =>
      pictureOf(context, await actionOf(context, id), effect),
    show: async ({ id, effect }: { readonly id: string; readonly effect?: number | undefined }) => {
      await commands.executeCommand("lares.showChanges", effect === undefined ? { id } : { id, effect });
      return {};
    },
    edit: async ({
      id,
      digest,
      effect,
    }: {
      readonly id: string;
      readonly digest: string;
      readonly effect?: number | undefined;
    }) => {
      await commands.executeCommand("lares.editProposal", {
        id,
        digest,
        ...(effect === undefined ? {} : { effects: [effect] }),
      });
      return {};
    },
  };
}

async function actionOf({ kernel, models }: ClientContext, id: string): Promise<Action> {
  return models.actions.get(id) ?? kernel.request("lares/actions/get", { id });
}

/** Shows the line of the document whose rule decided, or the remembered decision. */
async function showRule(action: Action | undefined): Promise<void> {
  const { place, decision } = action?.rule ?? {};
  if (decision !== undefined) return void (await commands.executeCommand("lares.openDecisions", decision));
  if (place === undefined) return void (await commands.executeCommand("lares.openDecisions"));
  const line = place.line - 1;
  await window.showTextDocument(Uri.file(place.path), {
    selection: new Range(line, 0, line, 0),
    preview: true,
  });
}
