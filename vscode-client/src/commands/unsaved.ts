import { commands, window, workspace, type TextDocument } from "vscode";
import { effectPaths, nameOf } from "../model/effect-text.ts";
import { count, message } from "../model/text.ts";
import { uriOf } from "../model/uris.ts";
import type { Effect } from "../protocol.ts";

const save = "Save and Continue";
const discard = "Discard Edits and Approve";

/** What became of unsaved changes: there were none or they are gone; they are in the files now; they are still there. */
export type Settled = "none" | "saved" | "left";

/** Open documents with unsaved changes that these effects would change. */
export function unsavedAmong(effects: readonly Effect[]): TextDocument[] {
  const touched = new Set(effects.flatMap(effectPaths).map((path) => uriOf(path)?.toString()));
  return workspace.textDocuments.filter(({ isDirty, uri }) => isDirty && touched.has(uri.toString()));
}

/**
 * Asks what to do with unsaved changes that lie where an action would write: nothing is ever written beneath an open
 * editor. What was proposed before a file is saved is rarely what would be proposed for it afterwards.
 */
export async function settleUnsaved(effects: readonly Effect[]): Promise<Settled> {
  const unsaved = unsavedAmong(effects);
  if (unsaved.length === 0) return "none";
  const [first] = unsaved;
  const what =
    unsaved.length === 1 && first !== undefined
      ? message(nameOf(first.uri.path), 80)
      : count(unsaved.length, "open file");
  const answer = await window.showWarningMessage(
    `Save or revert ${what} first: there are unsaved changes where this would write. Once saved, you are asked again if the proposal is another then.`,
    save,
    discard,
  );
  if (answer === undefined) return "left";
  for (const document of unsaved) {
    if (answer === save) await document.save();
    else await revert(document);
  }
  if (unsavedAmong(effects).length > 0) return "left";
  return answer === save ? "saved" : "none";
}

async function revert(document: TextDocument): Promise<void> {
  await window.showTextDocument(document);
  await commands.executeCommand("workbench.action.files.revert");
}
