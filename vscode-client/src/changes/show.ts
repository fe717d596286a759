import { commands, Disposable, window, type Uri } from "vscode";
import { reporting } from "../commands/explain.ts";
import type { ClientContext, Feature } from "../feature.ts";
import { effectPaths, hasContents, nameOf } from "../model/effect-text.ts";
import { label } from "../model/text.ts";
import { exists, uriOf } from "../model/uris.ts";
import type { Action, Effect } from "../protocol.ts";
import { uriOfSide } from "./addresses.ts";
import { endMark, ShownChange, type ShownTab } from "./shown.ts";

/** At most this many changes are opened side by side; the title says how many there are. */
export const maxShownEffects = 200;
const maxTitleCharacters = 80;

/** What `lares.showChanges` is called with; without it, the person picks one of those that wait. */
export type ShowTarget = string | { readonly id: string; readonly effect?: number };

/** Opens what an action would change, or has changed: one effect as a diff, several beside each other. */
export const showChanges: Feature = (context) => {
  const shown = new ShownChange(context);
  let isReopening = false;
  /** The change that was reopened last, so that an editor that never takes its title is not reopened for ever. */
  let lastReopened = "";
  const look = (): void => {
    const outdated = shown.outdated();
    if (outdated === undefined || isReopening) return;
    const key = `${outdated.action.id} ${outdated.action.state} ${outdated.effect}`;
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

  /** Reopens the change of an ended action, frozen and with its outcome in the title: a tab's title cannot change. */
  async function reopen({ tab, action, effect }: ShownTab): Promise<void> {
    await reporting("The changes cannot be shown", async () => {
      const whole = await context.models.actions.withDiffs(action.id);
      await window.tabGroups.close(tab, true);
      await show(whole, effect, shown);
    });
  }
};

/** The first argument, whoever called: an id, `{ id, effect }`, or a tree's element that carries its action. */
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
    label: label(title),
    description: label(models.agents.nameOf(agent)),
    detail: label(reason, 300),
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
  if (effects.length === 1) return showOne(action, ...first);
  const shown = effects.slice(0, maxShownEffects);
  const resources = await Promise.all(shown.map(([index, effect]) => resourceOf(action, index, effect)));
  const left =
    shown.length < effects.length ? `, the first ${shown.length} of ${effects.length} changes` : "";
  const title = known.titleFor(`${endMark(action)}Lares: ${shortTitle(action)}${left}`, action.id);
  await commands.executeCommand("vscode.changes", title, resources);
}

async function showOne(action: Action, index: number, effect: Effect): Promise<void> {
  const title = `${endMark(action, index)}${label(nameOf(effect.path))} (Lares: ${shortTitle(action)})`;
  const after = uriOfSide(action.id, index, effect, "after");
  if (hasContents(effect))
    await commands.executeCommand("vscode.diff", await beforeOf(action, index, effect), after, title);
  else await commands.executeCommand("vscode.open", after, { preview: true }, title);
}

/** What a multi-file diff takes: the file it is about, its left side, its right side; a side that is not there is undefined. */
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

/**
 * Returns the left side of the diff. A waiting action is compared with the file itself, as it is now, so that a person
 * can go on from it. An action that has ended is frozen: the kernel has both sides, whatever became of the file. The
 * kernel also has the text that an effect finds after other effects of the same action.
 */
async function beforeOf(action: Action, index: number, effect: Effect): Promise<Uri> {
  const file = uriOf(effect.path);
  const isFirst = action.effects.findIndex((each) => effectPaths(each).includes(effect.path)) === index;
  if (action.state === "PendingApproval" && isFirst && file !== undefined && (await exists(file)))
    return file;
  return uriOfSide(action.id, index, effect, "before");
}

function shortTitle({ title }: Action): string {
  return label(title, maxTitleCharacters);
}
