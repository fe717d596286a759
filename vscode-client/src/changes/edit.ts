import {
  commands,
  Disposable,
  EventEmitter,
  FileSystemError,
  FileType,
  TabInputTextDiff,
  Uri,
  window,
  workspace,
  type FileChangeEvent,
  type FileStat,
  type FileSystemProvider,
} from "vscode";
import { actionArgument } from "../deciding/arguments.ts";
import { approveShown, type Approving } from "../deciding/decide.ts";
import { reporting } from "../deciding/explain.ts";
import type { ClientContext } from "../feature.ts";
import { decidedWord } from "../model/decided.ts";
import { nameOf } from "../model/effect-text.ts";
import { label, message } from "../model/text.ts";
import { uriOf } from "../model/uris.ts";
import type { Action } from "../protocol.ts";
import { decoded } from "../deciding/content.ts";
import type { ChangeContents, Edited } from "./contents.ts";
import { openDiff } from "./diff.ts";
import { FileSystem } from "./file-system.ts";

/** The scheme of proposed texts that a person edits before approving them; they exist only in memory. */
export const editScheme = "lares-edit";

/** The file system of the texts that are open for editing. */
class EditedTexts extends FileSystem implements FileSystemProvider, Disposable {
  readonly #contents: ChangeContents;
  readonly #actions: ClientContext["models"]["actions"];
  readonly #changed = new EventEmitter<FileChangeEvent[]>();
  readonly onDidChangeFile = this.#changed.event;

  constructor(contents: ChangeContents, { models }: ClientContext) {
    super();
    this.#contents = contents;
    this.#actions = models.actions;
  }

  /** Needs no request, so that a text can be saved while the kernel is gone. */
  stat(uri: Uri): FileStat {
    const { modified, typed, proposedBytes } = this.#need(uri);
    return { type: FileType.File, ctime: 0, mtime: modified, size: typed?.length ?? proposedBytes };
  }
  async readFile(uri: Uri): Promise<Uint8Array> {
    const text = this.#need(uri);
    return text.typed ?? (await proposedOf(this.#contents, this.#actions.get(text.action), text));
  }
  writeFile(uri: Uri, content: Uint8Array): void {
    this.#contents.type(this.#need(uri), content);
  }
  dispose(): void {
    this.#changed.dispose();
  }

  #need(uri: Uri): Edited {
    const text = this.#contents.edited(uri.toString());
    if (text === undefined) throw FileSystemError.FileNotFound(uri);
    return text;
  }
}

/**
 * Returns what the agent proposed for a text that is being edited. An action that is no longer in the model is
 * requested by its id.
 */
async function proposedOf(
  contents: ChangeContents,
  action: Action | undefined,
  { action: id, effect, digest }: Edited,
): Promise<Uint8Array> {
  const address = { action: id, effect, side: "after" } as const;
  // The state is part of the cache key. Whatever happened to the action, the text is the one that was opened.
  const content = await contents.read({ digest, state: action?.state ?? "PendingApproval" }, address);
  if (content === null) throw new Error("This text is too large to be changed here.");
  return content;
}

/**
 * Lets the person edit a proposal before approving it: they can type on the right side of its diff, and that text is
 * approved.
 */
export function editing(context: ClientContext, contents: ChangeContents): Disposable {
  const texts = new EditedTexts(contents, context);
  const whose = (given: unknown): { action: Action; effect: number | undefined } | undefined => {
    const argument = actionArgument(given);
    const action = argument && context.models.actions.get(argument.id);
    if (argument === undefined || action === undefined) return undefined;
    if (argument.digest !== undefined && argument.digest !== action.digest)
      throw new Error("It has changed since it was shown to you. Look at it again.");
    return { action, effect: argument.effects?.length === 1 ? argument.effects[0] : undefined };
  };
  return Disposable.from(
    texts,
    workspace.registerFileSystemProvider(editScheme, texts, { isCaseSensitive: true }),
    commands.registerCommand("lares.editProposal", (given?: unknown) =>
      reporting("It cannot be edited", async () => {
        const target = whose(given) ?? (await pick(context));
        if (target !== undefined) await open(contents, target.action, target.effect);
      }),
    ),
    commands.registerCommand("lares.approveEdited", () =>
      reporting("Not approved", async () => {
        const { input } = window.tabGroups.activeTabGroup.activeTab ?? {};
        const edited =
          input instanceof TabInputTextDiff ? contents.edited(input.modified.toString()) : undefined;
        if (edited === undefined) throw new Error("No proposal is being edited here.");
        await approve(context, contents, edited);
      }),
    ),
  );
}

async function pick({ models }: ClientContext): Promise<{ action: Action; effect: undefined } | undefined> {
  const items = models.actions.pending
    .filter(({ effects }) => effects.some(canBeEdited))
    .map((action) => ({
      label: label(action.effects.map(({ path }) => path).join(", "), 200),
      detail: message(action.title, 200),
      action,
    }));
  if (items.length === 0) {
    void window.showInformationMessage("No pending change has a text to edit.");
    return undefined;
  }
  const chosen = await window.showQuickPick(items, {
    title: "Edit Before Approving",
    placeHolder: "Which proposal?",
  });
  return chosen && { action: chosen.action, effect: undefined };
}

function canBeEdited({ kind, after }: Action["effects"][number]): boolean {
  return (kind === "file.write" || kind === "file.edit") && after !== null;
}

async function open(contents: ChangeContents, action: Action, wanted: number | undefined): Promise<void> {
  if (action.state !== "PendingApproval") throw new Error("It is no longer pending.");
  const able = [...action.effects.entries()].filter(([, effect]) => canBeEdited(effect));
  const chosen =
    wanted ??
    (able.length < 2
      ? able[0]?.[0]
      : (
          await window.showQuickPick(
            able.map(([index, { path }]) => ({ label: label(path, 300), index })),
            { title: "Edit Before Approving", placeHolder: "Which text?" },
          )
        )?.index);
  if (chosen === undefined) return;
  const effect = action.effects[chosen];
  if (effect === undefined || !canBeEdited(effect)) throw new Error("This change has no text to edit.");
  const proposed = await contents.read(action, { action: action.id, effect: chosen, side: "after" });
  // Reports here, instead of in an empty editor, that it is not a text or too large.
  decoded(proposed);
  const path = uriOf(effect.path)?.path ?? `/${effect.path}`;
  const uri = Uri.from({ scheme: editScheme, path, query: `${action.id}/${chosen}` });
  contents.edit(uri.toString(), {
    action: action.id,
    effect: chosen,
    digest: action.digest,
    proposedBytes: proposed?.length ?? 0,
  });
  await openDiff(action, chosen, {
    after: uri,
    title: `${label(nameOf(effect.path))} (Lares: edit, then approve)`,
    options: { preview: false },
  });
}

async function approve(context: ClientContext, contents: ChangeContents, edited: Edited): Promise<void> {
  const action = context.models.actions.get(edited.action);
  if (action?.state !== "PendingApproval") {
    const became = action === undefined ? "gone" : decidedWord(action).toLowerCase();
    throw new Error(`The proposal is ${became} by now. Your text is still in this editor.`);
  }
  if (action.digest !== edited.digest)
    throw new Error("The proposal has changed since you opened it. Your text is still in this editor.");
  const edits: NonNullable<Approving["edits"]> = [];
  for (const [key, text] of contents.editedOf(edited.action)) {
    const document = workspace.textDocuments.find(({ uri }) => uri.toString() === key);
    const content = document?.getText() ?? (text.typed && new TextDecoder().decode(text.typed));
    if (content === undefined) continue;
    const proposed = new TextDecoder().decode(await proposedOf(contents, action, text));
    if (content !== proposed) edits.push({ effect: text.effect, content });
  }
  const done = await approveShown(context, action, {
    digest: edited.digest,
    edits,
    answeredBy: "lares.approve",
  });
  if (done === undefined) return;
  if (done.state !== "Committed")
    throw new Error(message(done.error ?? `It is ${decidedWord(done).toLowerCase()} now.`));
  window.setStatusBarMessage(`$(check) ${decidedWord(done)}: ${message(done.title, 80)}`, 6_000);
  await closeEditors(contents, edited.action);
}

/** The texts are written or discarded by now, so their editors can close without a question. */
async function closeEditors(contents: ChangeContents, action: string): Promise<void> {
  const uris = new Set(contents.editedOf(action).map(([key]) => key));
  for (const document of workspace.textDocuments)
    if (document.isDirty && uris.has(document.uri.toString())) await document.save();
  const tabs = window.tabGroups.all
    .flatMap((group) => group.tabs)
    .filter(({ input }) => input instanceof TabInputTextDiff && uris.has(input.modified.toString()));
  await window.tabGroups.close(tabs, true);
  for (const key of uris) contents.forget(key);
}
