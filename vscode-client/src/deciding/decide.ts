import { window } from "vscode";
import { requestedBySentence } from "../../../kernel/src/base/vocabulary/principal.ts";
import { contentOf, decoded } from "./content.ts";
import { withoutHunks } from "./hunks.ts";
import type { ClientContext } from "../feature.ts";
import { decisionWordsOf } from "../model/decision-words.ts";
import { pathMovedOn } from "../model/drift.ts";
import { hashOfFile } from "../model/file-hash.ts";
import { message } from "../model/text.ts";
import { extentText, goneFrom, impactSentence, weightOf } from "../model/weight.ts";
import type { Action, ParamsOf } from "../protocol.ts";
import { maxNamed } from "./confirm-undo.ts";
import { approveFresh, type Outdated } from "./fresh-proposal.ts";
import { settleUnsaved } from "./unsaved.ts";

type Params = ParamsOf<"lares/actions/approve">;

/** How a person approves: which version, which of its effects, with which texts, and what is remembered. */
export interface Approving {
  /** The digest of the proposal that the person was shown. */
  readonly digest: Action["digest"];
  readonly effects?: readonly number[] | undefined;
  readonly edits?: Params["edits"] | undefined;
  readonly rules?: Params["rules"] | undefined;
  /** The command that asks again when a save brings a fresh proposal. */
  readonly answeredBy: Outdated["answeredBy"];
}

/**
 * Approves an action, bound to the digest that was shown, after unsaved texts of its files are settled. Returns the
 * ended action, or undefined if the person cancelled or was led to a fresh proposal. Rejects if the kernel refuses.
 */
export async function approveShown(
  context: ClientContext,
  action: Action,
  { digest, effects, edits, rules, answeredBy }: Approving,
): Promise<Action | undefined> {
  const chosen =
    effects === undefined ? action.effects : effects.flatMap((index) => action.effects[index] ?? []);
  const known = new Set(context.models.actions.pending.map(({ id }) => id));
  const settled = await settleUnsaved(chosen);
  if (settled === "left") return undefined;
  if (settled === "saved" && (await pathMovedOn(chosen, hashOfFile)) !== undefined) {
    await approveFresh(context, { action, known, answeredBy });
    return undefined;
  }
  return context.kernel.request("lares/actions/approve", {
    id: action.id,
    digest,
    ...(effects === undefined ? {} : { effects: [...effects] }),
    ...(edits === undefined || edits.length === 0 ? {} : { edits }),
    ...(rules === undefined ? {} : { remember: "always", rules }),
  });
}

/**
 * For a change that must be decided on its own: asks once more and names what would be lost; the default is to look at
 * it. Returns "yes" at once for small changes.
 */
export async function confirmAlone(
  action: Action,
  given?: readonly number[],
): Promise<"yes" | "show" | "no"> {
  const effects =
    given === undefined ? action.effects : given.flatMap((index) => action.effects[index] ?? []);
  if (!weightOf({ effects, impact_score: given === undefined ? action.impact_score : 0 }).isAlone)
    return "yes";
  const gone = effects.filter(({ kind }) => kind === "file.delete" || kind === "file.move");
  const left = gone.length - maxNamed;
  const show = "Show First";
  const all = effects.length === 1 ? "Approve" : `Approve All ${effects.length.toLocaleString("en")}`;
  const answer = await window.showWarningMessage(
    `${extentText(effects)}: approve “${message(action.title, 80)}”?`,
    {
      modal: true,
      detail: [
        ...requestedByLine(action),
        impactSentence(effects),
        ...gone.slice(0, maxNamed).map((effect) => `• ${decisionWordsOf(effect)}`),
        ...(left > 0 ? [`• and ${left.toLocaleString("en")} more that are deleted or moved`] : []),
      ].join("\n"),
    },
    show,
    all,
  );
  return answer === all ? "yes" : answer === show ? "show" : "no";
}

/** Returns one line that names who led the agent to propose the action; none if it acted of its own accord. */
export function requestedByLine({ on_behalf_of: who }: Action): string[] {
  return who === undefined ? [] : [message(requestedBySentence(who), 4_000)];
}

/** For each text, the numbers of the parts that are left out. */
type LeftOut = readonly { readonly effect: number; readonly hunks: readonly number[] }[];

/**
 * Returns what to approve so that these parts are left out: the remaining effects, and the texts of those that remain
 * in part. Throws if a text cannot be divided exactly as it was shown.
 */
export async function withoutParts(
  { kernel, models }: ClientContext,
  { id, digest }: { readonly id: string; readonly digest: string },
  given: readonly number[] | undefined,
  leftOut: LeftOut,
): Promise<Pick<Approving, "effects" | "edits">> {
  const action = await models.actions.withDiffs(id);
  if (action.digest !== digest)
    throw new Error("It has changed since it was shown to you. Look at it again.");
  const kept = new Set(given ?? action.effects.keys());
  const edits: NonNullable<Params["edits"]> = [];
  for (const { effect, hunks } of leftOut) {
    if (hunks.length === 0 || !kept.has(effect)) continue;
    const diff =
      action.effects[effect]?.diff ?? (await kernel.request("lares/actions/diff", { id, effect })).diff ?? "";
    const [before, after] = await Promise.all([
      textOf(kernel, action, effect, "before"),
      textOf(kernel, action, effect, "after"),
    ]);
    const content = withoutHunks({ before, after, diff }, new Set(hunks));
    if (content === null)
      throw new Error("The parts of this change cannot be approved one by one. Use Edit instead.");
    if (content === before) kept.delete(effect);
    else edits.push({ effect, content });
  }
  if (kept.size === 0) throw new Error("Every part is left out. Reject it instead.");
  return {
    ...(kept.size < action.effects.length
      ? { effects: [...kept].toSorted((one, other) => one - other) }
      : {}),
    ...(edits.length > 0 ? { edits } : {}),
  };
}

/** Returns one side of a text. Throws if it is too large or not a text. */
async function textOf(
  kernel: ClientContext["kernel"],
  { id, effects }: Action,
  effect: number,
  side: "before" | "after",
): Promise<string> {
  if (effects[effect]?.[side] === null) return "";
  return decoded(await contentOf(kernel, id, effect, side));
}

/** The result of a batch: each item is handled on its own, and a failure does not stop the others. */
interface BatchResult {
  readonly done: number;
  readonly failures: readonly string[];
}

/** Runs an operation for each item, one after the other. `explain`: returns the message for a refusal. */
export async function each<Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<string | undefined>,
  explain: (error: unknown) => string,
): Promise<BatchResult> {
  let done = 0;
  const failures: string[] = [];
  for (const item of items) {
    try {
      const failure = await act(item);
      if (failure === undefined) done += 1;
      else failures.push(failure);
    } catch (error) {
      failures.push(explain(error));
    }
  }
  return { done, failures };
}

/** Returns why an action is not part of a batch, or undefined if it may be. */
export function notInBatch(action: Action | undefined, digest: string): string | undefined {
  if (action === undefined || action.state !== "PendingApproval") return "One is no longer pending.";
  const name = `“${message(action.title, 80)}”`;
  if (action.digest !== digest) return `${name} has changed since it was shown.`;
  if (!weightOf(action).isAlone) return undefined;
  const { deletes } = goneFrom(action.effects);
  return `${name} must be decided on its own: it ${deletes > 0 ? "deletes a file" : "is large"}.`;
}
