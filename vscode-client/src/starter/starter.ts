import { commands, Disposable, Range, Uri, window, workspace } from "vscode";
import { reporting } from "../deciding/explain.ts";
import type { ClientContext, Feature } from "../feature.ts";
import { trustQuestion } from "../model/trust-question.ts";
import { exists } from "../model/uris.ts";
import { forWhatComes } from "../notices/trust.ts";
import { note, noteLens } from "./note-lens.ts";
import { chosenFolder, documentIn } from "./place.ts";
import { progress } from "./progress.ts";

const walkthrough = "lares.lares-vscode#lares.start";

/** Offers new users a document, a note to try it on, and the walkthrough. */
export const starter: Feature = (context) => {
  /** The person opened the editor's trust dialog from the walkthrough, and is led back to it. */
  let leadsBack = false;
  return Disposable.from(
    commands.registerCommand("lares.createStarter", () =>
      reporting("No starter was created", () => createStarter(context)),
    ),
    commands.registerCommand("lares.openFirstNote", () =>
      reporting("The note cannot be opened", () => openFirstNote(context)),
    ),
    commands.registerCommand("lares.openDocument", () =>
      reporting("lares.yaml cannot be opened", openDocument),
    ),
    commands.registerCommand("lares.openWalkthrough", () => openWalkthrough()),
    commands.registerCommand("lares.trustFolder", async () => {
      leadsBack = !workspace.isTrusted;
      await commands.executeCommand("workbench.trust.manage");
    }),
    workspace.onDidGrantWorkspaceTrust(() => {
      if (leadsBack) void openWalkthrough("document");
      leadsBack = false;
    }),
    progress(context),
    noteLens(context),
  );
};

async function openWalkthrough(step?: string): Promise<void> {
  const place = step === undefined ? walkthrough : { category: walkthrough, step };
  await commands.executeCommand("workbench.action.openWalkthrough", place, false);
}

/**
 * Writes a starter only if there is no document: an existing one is opened and stays unchanged. The new document's
 * question is shown at once, and the note after it is allowed.
 */
async function createStarter(context: ClientContext): Promise<void> {
  const folder = (await folderOrAsk("Which folder are agents to work in?"))?.uri;
  if (folder === undefined) return;
  const known = await documentIn(folder);
  if (known !== undefined) {
    await window.showTextDocument(known);
    void window.showInformationMessage(
      `Lares: this folder has a ${known.path.slice(known.path.lastIndexOf("/") + 1)} already; nothing was written.`,
    );
    return;
  }
  const document = Uri.joinPath(folder, "lares.yaml");
  const schema = Uri.joinPath(folder, ".lares", "schemas", "lares.schema.json");
  // The note is written first, because a location that does not exist would be an error in the document.
  await writeNote(context, folder);
  await copyIfMissing(bundled(context, "dist", "schemas", "lares.schema.json"), schema);
  await copyIfMissing(bundled(context, "media", "starter", "lares.yaml"), document);
  await window.showTextDocument(document);
  if (!workspace.isTrusted) return;
  await commands.executeCommand("lares.trustWorkspace", forWhatComes);
  if (trustQuestion(await context.kernel.request("lares/status", {})) === null)
    await openNoteIn(context, folder);
}

async function openDocument(): Promise<void> {
  const folder = (await folderOrAsk("In which folder?"))?.uri;
  const document = folder === undefined ? undefined : await documentIn(folder);
  if (document === undefined) throw new Error("This folder has none. Create a starter to begin.");
  await window.showTextDocument(document);
}

/** Opens the note for which the starter's agent proposes a heading, at its first line; creates it if it is missing. */
async function openFirstNote(context: ClientContext): Promise<void> {
  const folder = (await folderOrAsk("In which folder?"))?.uri;
  if (folder !== undefined) await openNoteIn(context, folder);
}

async function openNoteIn(context: ClientContext, folder: Uri): Promise<void> {
  await writeNote(context, folder);
  await window.showTextDocument(Uri.joinPath(folder, ...note), { selection: new Range(0, 0, 0, 0) });
}

async function folderOrAsk(question: string): ReturnType<typeof chosenFolder> {
  if ((workspace.workspaceFolders ?? []).length > 0) return chosenFolder(question);
  const open = "Open Folder…";
  const answer = await window.showInformationMessage("Lares: open a folder first; agents work in one.", open);
  if (answer === open) await commands.executeCommand("vscode.openFolder");
  return undefined;
}

async function writeNote(context: ClientContext, folder: Uri): Promise<void> {
  await copyIfMissing(bundled(context, "media", "starter", "first-note.md"), Uri.joinPath(folder, ...note));
}

function bundled({ extension }: ClientContext, ...path: readonly string[]): Uri {
  return Uri.joinPath(extension.extensionUri, ...path);
}

async function copyIfMissing(from: Uri, to: Uri): Promise<void> {
  if (await exists(to)) return;
  await workspace.fs.copy(from, to, { overwrite: false });
}
