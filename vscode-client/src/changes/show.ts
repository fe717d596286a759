import { createHash } from "node:crypto";
import { commands, FileSystemError, window, workspace, type Uri } from "vscode";
import { plainLine } from "../../../kernel/src/base/plain-text.ts";
import type { ClientContext, Feature } from "../feature.ts";
import { uriOf } from "../model/uris.ts";
import type { Action, Effect } from "../protocol.ts";
import { addressOfSide, hasContents, uriOfChange } from "./addresses.ts";
import { maxShownBytes } from "./content.ts";

/** At most this many changes are opened side by side; the title says how many there are. */
export const maxShownEffects = 200;
const maxTitleCharacters = 80;

/** What `lares.showChanges` is called with; without it, the person picks one of those that wait. */
export type ShowTarget = string | { readonly id: string; readonly effect?: number };

/** Opens what an action would change, or has changed: one effect as a diff, several beside each other. */
export const showChanges: Feature = (context) =>
  commands.registerCommand("lares.showChanges", async (given?: unknown) => {
    const target = targetOf(given) ?? (await pick(context));
    if (target === undefined) return;
    try {
      await show(await context.models.actions.withDiffs(target.id), target.effect);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      void window.showErrorMessage(`Lares: the changes cannot be shown. ${plainLine(message).slice(0, 300)}`);
    }
  });

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
    label: plainLine(title),
    description: plainLine(agent),
    detail: plainLine(reason),
  }));
  return window.showQuickPick(items, { title: "Show Changes", placeHolder: "Which proposal?" });
}

async function show(action: Action, only: number | undefined): Promise<void> {
  const effects = [...action.effects.entries()].filter(([index]) => only === undefined || index === only);
  const [first] = effects;
  if (first === undefined) throw new Error(`The action has no change number ${(only ?? 0) + 1}.`);
  if (effects.length === 1) return showOne(action, ...first);
  const shown = effects.slice(0, maxShownEffects);
  const resources = await Promise.all(shown.map(([index, effect]) => sidesOf(action, index, effect)));
  const count = shown.length < effects.length ? `${shown.length} of ${effects.length}` : `${effects.length}`;
  await commands.executeCommand(
    "vscode.changes",
    `${shortTitle(action)} (Lares: ${count} changes)`,
    resources,
  );
}

async function showOne(action: Action, index: number, effect: Effect): Promise<void> {
  const [, before, after] = await sidesOf(action, index, effect);
  const name = effect.path.slice(effect.path.lastIndexOf("/") + 1);
  const title = `${plainLine(name)} (Lares: ${shortTitle(action)}${action.state === "Stale" ? ", stale" : ""})`;
  if (before !== undefined) await commands.executeCommand("vscode.diff", before, after, title);
  else await commands.executeCommand("vscode.open", after, { preview: true }, title);
}

/** What a multi-file diff takes: the file it is about, its left side, its right side. */
async function sidesOf(
  action: Action,
  index: number,
  effect: Effect,
): Promise<[label: Uri, before: Uri | undefined, after: Uri]> {
  const after = uriOfChange(addressOfSide(action.id, index, effect, "after"));
  const label = uriOf(effect.path) ?? after;
  if (!hasContents(effect)) return [label, undefined, after];
  const before = uriOfChange(addressOfSide(action.id, index, effect, "before"));
  return [label, (await unchangedFile(effect)) ?? before, after];
}

/** The workspace's own file, where it is still what the effect starts from: a person can go on from it. */
async function unchangedFile({ path, before }: Effect): Promise<Uri | undefined> {
  const uri = uriOf(path);
  if (before === null || uri === undefined) return undefined;
  try {
    const { size } = await workspace.fs.stat(uri);
    if (size > maxShownBytes) return undefined;
    const content = await workspace.fs.readFile(uri);
    return `sha256:${createHash("sha256").update(content).digest("hex")}` === before ? uri : undefined;
  } catch (error) {
    if (error instanceof FileSystemError) return undefined;
    throw error;
  }
}

function shortTitle({ title }: Action): string {
  const plain = plainLine(title);
  return plain.length <= maxTitleCharacters ? plain : `${plain.slice(0, maxTitleCharacters - 1)}…`;
}
