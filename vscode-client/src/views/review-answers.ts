import { commands, Range, Uri, window } from "vscode";
import { confirmUndo } from "../deciding/confirm-undo.ts";
import { approveShown, withoutParts } from "../deciding/decide.ts";
import type { ClientContext } from "../feature.ts";
import type { Action } from "../protocol.ts";
import type { Approval } from "../webviews/review/messages.ts";
import {
  approveBatch,
  outcomeOf,
  rejectBatch,
  undoBatch,
  type ShownItems,
} from "../deciding/review-batches.ts";
import { filesOf } from "../deciding/review-cards.ts";
import { fileDiffOf } from "./review-diff.ts";
import { pictureOf } from "./review-pictures.ts";

/** Returns the answers to the page's decisions; each is bound to the digest of the card that was pressed. */
export function decisionAnswers(context: ClientContext) {
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
export function cardReaders(context: ClientContext) {
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
