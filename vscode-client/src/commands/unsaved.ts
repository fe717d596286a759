import { commands, window, workspace, type TextDocument } from "vscode";
import { effectPaths, nameOf } from "../model/effect-text.ts";
import { count, message } from "../model/text.ts";
import { uriOf } from "../model/uris.ts";
import type { Effect } from "../protocol.ts";

const save = "Save and Approve";
const discard = "Discard Edits and Approve";

/** Open documents with unsaved changes that these effects would change. */
export function unsavedAmong(effects: readonly Effect[]): TextDocument[] {
  const touched = new Set(effects.flatMap(effectPaths).map((path) => uriOf(path)?.toString()));
  return workspace.textDocuments.filter(({ isDirty, uri }) => isDirty && touched.has(uri.toString()));
}

/**
 * Asks what to do with unsaved changes that lie where an action would write; true when none are left. Nothing is
 * ever written beneath an open editor: a file that is saved now may make the action stale, and that is told then.
 */
export async function settleUnsaved(effects: readonly Effect[]): Promise<boolean> {
  const unsaved = unsavedAmong(effects);
  if (unsaved.length === 0) return true;
  const [first] = unsaved;
  const what =
    unsaved.length === 1 && first !== undefined
      ? message(nameOf(first.uri.path), 80)
      : count(unsaved.length, "open file");
  const answer = await window.showWarningMessage(
    `Save or revert ${what} first: there are unsaved changes where this would write.`,
    save,
    discard,
  );
  if (answer === undefined) return false;
  for (const document of unsaved) {
    if (answer === save) await document.save();
    else await revert(document);
  }
  return unsavedAmong(effects).length === 0;
}

async function revert(document: TextDocument): Promise<void> {
  await window.showTextDocument(document);
  await commands.executeCommand("workbench.action.files.revert");
}
