import { commands, window, workspace, type TextDocument } from "vscode";
import { effectPaths, nameOf } from "../model/effect-text.ts";
import { count, label } from "../model/text.ts";
import { uriOf } from "../model/uris.ts";
import type { Effect } from "../protocol.ts";

const save = "Save and Continue";
const discard = "Discard Edits and Approve";

/** What happened to unsaved changes: there were none or they are gone; they were saved; they are still there. */
type Settled = "none" | "saved" | "left";

/** Returns the open documents with unsaved changes that these effects would change. */
function unsavedAmong(effects: readonly Effect[]): TextDocument[] {
  const touched = new Set(effects.flatMap(effectPaths).map((path) => uriOf(path)?.toString()));
  return workspace.textDocuments.filter(({ isDirty, uri }) => isDirty && touched.has(uri.toString()));
}

/**
 * Asks what to do with unsaved changes in files that an action would write, because nothing is ever written beneath an
 * open editor. A proposal from before the save rarely fits the saved text.
 */
export async function settleUnsaved(effects: readonly Effect[]): Promise<Settled> {
  const unsaved = unsavedAmong(effects);
  if (unsaved.length === 0) return "none";
  const [first] = unsaved;
  const what =
    unsaved.length === 1 && first !== undefined
      ? label(nameOf(first.uri.path), 80)
      : count(unsaved.length, "open file");
  const answer = await window.showWarningMessage(
    `Save or revert ${what} first: this would overwrite unsaved changes. After saving, you are asked again if the proposal has changed.`,
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
