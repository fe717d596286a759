import { commands, TabInputTextDiff, window, type TextDocumentShowOptions, type Uri } from "vscode";
import { effectPaths } from "../model/effect-text.ts";
import { exists, uriOf } from "../model/uris.ts";
import type { Action, Effect } from "../protocol.ts";
import { uriOfSide } from "./addresses.ts";

/** The right side of a diff, and the title of its tab. */
interface Diff {
  readonly after: Uri;
  readonly title: string;
  readonly options?: TextDocumentShowOptions;
}

/**
 * Opens one effect of an action as a diff. Shows the tab that already has this right side, in whichever group it is; a
 * tab with another title is closed first, because the title of an open tab cannot change.
 */
export async function openDiff(
  action: Action,
  index: number,
  { after, title, options }: Diff,
): Promise<void> {
  const effect = action.effects[index];
  if (effect === undefined) throw new Error(`The action has no change number ${index + 1}.`);
  const known = openTab(after);
  const column = known === undefined ? undefined : { viewColumn: known.viewColumn };
  const isSame = known?.tab.label === title;
  if (known !== undefined && !isSame) await window.tabGroups.close(known.tab, true);
  const before = known !== undefined && isSame ? known.original : await beforeOf(action, index, effect);
  const shown = { ...options, ...column };
  await commands.executeCommand(
    "vscode.diff",
    before,
    after,
    title,
    ...(Object.keys(shown).length === 0 ? [] : [shown]),
  );
}

function openTab(modified: Uri) {
  for (const { tabs, viewColumn } of window.tabGroups.all)
    for (const tab of tabs) {
      const { input } = tab;
      if (input instanceof TabInputTextDiff && input.modified.toString() === modified.toString())
        return { tab, viewColumn, original: input.original };
    }
  return undefined;
}

/**
 * Returns the left side of the diff. A waiting action is compared with the current file, so that a person can continue
 * from it. An action that has ended is frozen: the kernel has both sides, whatever happened to the file. The kernel
 * also has the text that an effect finds after earlier effects of the same action.
 */
export async function beforeOf(action: Action, index: number, effect: Effect): Promise<Uri> {
  const file = uriOf(effect.path);
  const isFirst = action.effects.findIndex((each) => effectPaths(each).includes(effect.path)) === index;
  if (action.state === "PendingApproval" && isFirst && file !== undefined && (await exists(file)))
    return file;
  return uriOfSide(action.id, index, effect, "before");
}
