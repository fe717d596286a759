import { window } from "vscode";
import { approveShown, each, notInBatch } from "./decide.ts";
import { explain } from "./explain.ts";
import type { ClientContext } from "../feature.ts";
import { decidedWord } from "../model/decided.ts";
import { count, message } from "../model/text.ts";
import type { Action } from "../protocol.ts";
import { cardOf } from "./review-cards.ts";

/** The number of actions, rules and failures that a message about several changes names. */
const maxNamedActions = 15;
const maxNamedRules = 5;
const maxNamedFailures = 5;

/** What the page shows, for commands that decide about all of it. */
export interface ShownItems {
  readonly items: readonly { readonly id: string; readonly digest: string }[];
}

/** Returns `Applied: walks.md…`, announced once for screen readers. */
export function outcomeOf(action: Action): string {
  return `${decidedWord(action)}: ${message(action.title, 200)}`;
}

const amount = (number: number): string => number.toLocaleString("en");

async function batchResult(running: Promise<{ done: number; failures: readonly string[] }>) {
  const { done, failures } = await running;
  return { done, failures: failures.map((text) => text.slice(0, 2_000)) };
}

/** Approves those of the list that may be decided together, each bound to its own digest. */
export function approveBatch(context: ClientContext, items: ShownItems["items"]) {
  const { models } = context;
  return batchResult(
    each(
      items,
      async ({ id, digest }) => {
        const action = models.actions.get(id);
        const refusal = notInBatch(action, digest);
        if (refusal !== undefined || action === undefined) return refusal;
        const done = await approveShown(context, action, {
          digest: action.digest,
          answeredBy: "lares.approve",
        });
        return done?.state === "Committed" ? undefined : outcomeOf(done ?? action);
      },
      explain,
    ),
  );
}

export function rejectBatch({ kernel, models }: ClientContext, items: ShownItems["items"], reason?: string) {
  return batchResult(
    each(
      items,
      async ({ id, digest }) => {
        if (models.actions.get(id)?.digest !== digest) return "One has changed since it was shown.";
        await kernel.request("lares/actions/reject", { id, ...(reason ? { reason } : {}) });
        return undefined;
      },
      explain,
    ),
  );
}

/** Asks once, with these lines as details. Returns true if the person agreed. */
async function confirm(question: string, yes: string, detail: readonly string[]): Promise<boolean> {
  return (await window.showWarningMessage(question, { modal: true, detail: detail.join("\n") }, yes)) === yes;
}

/** Returns a line for each of these actions, up to a bound. */
function namesOf({ models }: ClientContext, items: readonly { readonly id: string }[]): string[] {
  const actions = items.flatMap(({ id }) => models.actions.get(id) ?? []);
  const lines = actions.map(
    (action) => `• ${message(cardOf(action).name, 200)}: ${message(action.title, 100)}`,
  );
  return listed(lines, maxNamedActions);
}

/**
 * Asks once, with the number of changes and the rules that applied them, and undoes them in the given order. Returns
 * null if the person cancelled.
 */
async function confirmedUndo(context: ClientContext, items: readonly { readonly id: string }[]) {
  const { kernel, models } = context;
  const rules = new Set(items.flatMap(({ id }) => models.actions.get(id)?.rule?.sentence ?? []));
  const ruleLines = [...rules].map((rule) => message(rule, 300));
  const isAgreed = await confirm(`Undo ${count(items.length, "change")}?`, `Undo ${amount(items.length)}`, [
    ...listed(ruleLines, maxNamedRules),
    ...(rules.size === 0 ? [] : [""]),
    ...namesOf(context, items),
  ]);
  if (!isAgreed) return null;
  return batchResult(
    each(
      items,
      async ({ id }) => {
        await kernel.request("lares/actions/undo", { id });
        return undefined;
      },
      explain,
    ),
  );
}

function listed(lines: readonly string[], most: number): string[] {
  const more = lines.length - most;
  return [...lines.slice(0, most), ...(more > 0 ? [`• and ${amount(more)} more`] : [])];
}

/** Undoes the changes if the person agrees; see `confirmedUndo`. */
export async function undoBatch(context: ClientContext, items: ShownItems["items"]) {
  return (await confirmedUndo(context, items)) ?? { done: 0, failures: [], isLeft: true };
}

/** For a command: asks once, undoes, and reports the result. */
export async function undoEach(
  context: ClientContext,
  items: readonly { readonly id: string }[],
): Promise<void> {
  const result = await confirmedUndo(context, items);
  if (result !== null) reportBatch("Undone", result);
}

/** For a command: asks once, says what is excluded, and reports the result. */
export async function approveEach(
  context: ClientContext,
  items: ShownItems["items"],
  which: string,
): Promise<void> {
  const together = items.filter(
    ({ id, digest }) => notInBatch(context.models.actions.get(id), digest) === undefined,
  );
  const alone = items.length - together.length;
  const rest =
    alone === 0
      ? ""
      : ` ${amount(alone)} of them ${alone === 1 ? "is" : "are"} left: large changes and deletions must be decided on their own.`;
  if (together.length === 0) {
    void window.showInformationMessage(
      items.length === 0 ? "Nothing waits." : `Nothing to approve together.${rest}`,
    );
    return;
  }
  const number = amount(together.length);
  const question = `Approve ${number} ${which}?${rest}`;
  if (await confirm(question, `Approve ${number}`, namesOf(context, together)))
    reportBatch("Approved", await approveBatch(context, together));
}

export async function rejectEach(
  context: ClientContext,
  items: ShownItems["items"],
  which: string,
): Promise<void> {
  if (items.length === 0) return void window.showInformationMessage("Nothing waits.");
  const reason = await window.showInputBox({
    title: `Reject ${amount(items.length)} ${which}`,
    prompt: "Why not? Their agents read this. Leave it empty to reject without a reason.",
  });
  if (reason !== undefined)
    reportBatch("Rejected", await rejectBatch(context, items, reason.trim().slice(0, 4_000)));
}

function reportBatch(
  what: string,
  { done, failures }: { readonly done: number; readonly failures: readonly string[] },
): void {
  const text = `${what} ${amount(done)}.`;
  if (failures.length === 0) window.setStatusBarMessage(`$(check) ${text}`, 6_000);
  else
    void window.showWarningMessage(
      `${text} ${amount(failures.length)} not: ${message(failures.slice(0, maxNamedFailures).join(" "), 600)}`,
    );
}
