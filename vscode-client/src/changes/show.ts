import { commands, Disposable, window, type Uri } from "vscode";
import { hasEnded } from "../../../kernel/src/base/vocabulary/action.ts";
import { reporting } from "../deciding/explain.ts";
import type { ClientContext, Feature } from "../feature.ts";
import { hasContents, nameOf } from "../model/effect-text.ts";
import { label, message } from "../model/text.ts";
import { uriOf } from "../model/uris.ts";
import type { Action, Effect } from "../protocol.ts";
import { uriOfAbout, uriOfSide } from "./addresses.ts";
import { beforeOf, openDiff } from "./diff.ts";
import { endMark, ShownChange, type ShownTab } from "./shown.ts";

/** The number of changes that are opened side by side; the title has the total. */
export const maxShownEffects = 200;
const maxTitleCharacters = 80;

/** Opens what an action would change, or has changed: one effect as a diff, several in a multi-file editor. */
export const showChanges: Feature = (context) => {
  const shown = new ShownChange(context);
  let isReopening = false;
  /** The change that was reopened last, so that an editor that does not accept its title is not reopened for ever. */
  let lastReopened = "";
  const look = (): void => {
    const outdated = shown.outdated();
    if (outdated === undefined || isReopening) return;
    const key = `${outdated.action.id} ${endMark(outdated.action, outdated.effect)}`;
    if (key === lastReopened) return;
    lastReopened = key;
    isReopening = true;
    void reopen(outdated).finally(() => {
      isReopening = false;
    });
  };
  const listening = Disposable.from(
    context.models.actions.onDidChange(look),
    window.tabGroups.onDidChangeTabs(look),
  );
  const command = commands.registerCommand("lares.showChanges", (given?: unknown) =>
    reporting("The changes cannot be shown", async () => {
      const target = targetOf(given) ?? (await pick(context));
      if (target === undefined) return;
      await show(await context.models.actions.withDiffs(target.id), target.effect, shown);
    }),
  );
  return Disposable.from(command, listening, shown);

  /**
   * Reopens the change of an ended action, frozen and with its outcome in the title, because a tab's title cannot
   * change.
   */
  async function reopen({ tab, action, effect }: ShownTab): Promise<void> {
    await reporting("The changes cannot be shown", async () => {
      const whole = await context.models.actions.withDiffs(action.id);
      await window.tabGroups.close(tab, true);
      await show(whole, effect, shown);
    });
  }
};

/** Returns the target from the first argument: an id, `{ id, effect }`, or a tree item that carries its action. */
export function targetOf(given: unknown): { id: string; effect?: number } | undefined {
  if (typeof given === "string") return { id: given };
  if (typeof given !== "object" || given === null) return undefined;
  const { id, effect, action } = given as { id?: unknown; effect?: unknown; action?: unknown };
  const index = typeof effect === "number" ? { effect } : {};
  if (action !== undefined) {
    const inner = targetOf(action);
    return inner && { ...inner, ...index };
  }
  return typeof id === "string" ? { id, ...index } : undefined;
}

async function pick({ models }: ClientContext): Promise<{ id: string; effect?: number } | undefined> {
  const { pending } = models.actions;
  if (pending.length === 0) {
    void window.showInformationMessage("Lares: no change waits for you.");
    return undefined;
  }
  const items = pending.map(({ id, title, agent, reason }) => ({
    id,
    label: message(title, 120),
    description: label(models.agents.nameOf(agent)),
    detail: message(reason),
  }));
  return window.showQuickPick(items, { title: "Show Changes", placeHolder: "Which proposal?" });
}

async function show(action: Action, only: number | undefined, known: ShownChange): Promise<void> {
  const { effects: all, receipt } = action;
  const effects = [...all.entries()].filter(([index]) =>
    only === undefined ? (receipt?.applied.includes(index) ?? true) : index === only,
  );
  const [first] = effects;
  if (first === undefined) throw new Error(`The action has no change number ${(only ?? 0) + 1}.`);
  const isFrozen = hasEnded(action.state);
  const isOne = effects.length === 1;
  if (isOne && !(isFrozen && isBesideWords(first[1]))) return showOne(action, ...first);
  const shown = effects.slice(0, maxShownEffects);
  const resources = await Promise.all(shown.map(([index, effect]) => resourceOf(action, index, effect)));
  const left =
    shown.length < effects.length ? `, the first ${shown.length} of ${effects.length} changes` : "";
  // A frozen change is shown with its outcome, its reason and its impact as the first text.
  const about = uriOfAbout(action.id);
  if (isFrozen) resources.unshift([about, undefined, about]);
  const wished = isOne
    ? titleOfOne(action, ...first)
    : `${endMark(action)}Lares: ${shortTitle(action)}${left}`;
  const title = known.titleFor(wished, {
    action: action.id,
    ...(isOne && only !== undefined ? { effect: only } : {}),
  });
  // The editor opens another tab for each call, so the one with the same title is closed, unless it is active.
  const open = known.tabTitled(title);
  if (open !== undefined) {
    if (open === window.tabGroups.activeTabGroup.activeTab) return;
    await window.tabGroups.close(open, true);
  }
  await commands.executeCommand("vscode.changes", title, resources);
}

async function showOne(action: Action, index: number, effect: Effect): Promise<void> {
  const title = titleOfOne(action, index, effect);
  const after = uriOfSide(action.id, index, effect, "after");
  if (hasContents(effect)) await openDiff(action, index, { after, title });
  else await commands.executeCommand("vscode.open", after, { preview: true }, title);
}

function titleOfOne(action: Action, index: number, effect: Effect): string {
  return `${endMark(action, index)}${label(nameOf(effect.path))} (Lares: ${shortTitle(action)})`;
}

/** True if a multi-file editor can show it: contents without lines, such as a picture, need their own editor. */
function isBesideWords(effect: Effect): boolean {
  return !hasContents(effect) || effect.diff !== undefined;
}

/**
 * Returns the arguments of a multi-file diff: the file, its left side, its right side; a missing side is undefined.
 */
async function resourceOf(
  action: Action,
  index: number,
  effect: Effect,
): Promise<[label: Uri, before: Uri | undefined, after: Uri | undefined]> {
  const after = uriOfSide(action.id, index, effect, "after");
  const about = uriOf(effect.path) ?? after;
  if (!hasContents(effect)) return [about, undefined, after];
  return [
    about,
    effect.before === null ? undefined : await beforeOf(action, index, effect),
    effect.after === null ? undefined : after,
  ];
}

function shortTitle({ title }: Action): string {
  return message(title, maxTitleCharacters);
}
