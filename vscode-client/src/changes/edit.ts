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
import { actionArgument } from "../commands/arguments.ts";
import { approveShown, textOf, type Approving } from "../commands/decide.ts";
import { reporting } from "../commands/explain.ts";
import type { ClientContext, Feature } from "../feature.ts";
import { decidedWord } from "../model/decided.ts";
import { nameOf } from "../model/effect-text.ts";
import { label, message } from "../model/text.ts";
import { uriOf } from "../model/uris.ts";
import type { Action } from "../protocol.ts";
import { uriOfSide } from "./addresses.ts";

/** Documents of this scheme are proposed texts that a person changes before approving them; kept in memory only. */
export const editScheme = "lares-edit";
/** The number of texts that can be open for editing. Beyond it, the text opened first is dropped. */
const maxOpen = 32;

interface Edited {
  readonly action: string;
  readonly effect: number;
  /** The digest of the proposal that was opened. The approval is bound to it. */
  readonly digest: Action["digest"];
  readonly proposed: Uint8Array;
  content: Uint8Array;
  modified: number;
}

/** The proposed texts that are open to be edited. Nothing here is in a file: closing the editor drops it. */
class EditedTexts implements FileSystemProvider, Disposable {
  readonly #texts = new Map<string, Edited>();
  readonly #changed = new EventEmitter<FileChangeEvent[]>();
  readonly onDidChangeFile = this.#changed.event;

  open(uri: Uri, text: Edited): void {
    this.#texts.set(uri.toString(), text);
    for (const oldest of this.#texts.keys()) {
      if (this.#texts.size <= maxOpen) break;
      this.#texts.delete(oldest);
    }
  }
  get(uri: Uri): Edited | undefined {
    return this.#texts.get(uri.toString());
  }
  /** Returns the open texts of one action with their addresses. */
  of(action: string): [Uri, Edited][] {
    return [...this.#texts].flatMap(([key, text]) =>
      text.action === action ? [[Uri.parse(key), text]] : [],
    );
  }
  forget(action: string): void {
    for (const [uri] of this.of(action)) this.#texts.delete(uri.toString());
  }

  stat(uri: Uri): FileStat {
    const { content, modified } = this.#need(uri);
    return { type: FileType.File, ctime: 0, mtime: modified, size: content.length };
  }
  readFile(uri: Uri): Uint8Array {
    return this.#need(uri).content;
  }
  writeFile(uri: Uri, content: Uint8Array): void {
    const text = this.#need(uri);
    text.content = content;
    text.modified += 1;
  }
  watch(): Disposable {
    return new Disposable(() => undefined);
  }
  readDirectory(uri: Uri): never {
    throw FileSystemError.FileNotADirectory(uri);
  }
  createDirectory(uri: Uri): never {
    throw FileSystemError.NoPermissions(uri);
  }
  delete(uri: Uri): never {
    throw FileSystemError.NoPermissions(uri);
  }
  rename(uri: Uri): never {
    throw FileSystemError.NoPermissions(uri);
  }
  dispose(): void {
    this.#texts.clear();
    this.#changed.dispose();
  }

  #need(uri: Uri): Edited {
    const text = this.#texts.get(uri.toString());
    if (text === undefined) throw FileSystemError.FileNotFound(uri);
    return text;
  }
}

/** Edit a proposal before approving it: the right side of its diff can be typed in, and that text is approved. */
export const editing: Feature = (context) => {
  const texts = new EditedTexts();
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
        if (target !== undefined) await open(context, texts, target.action, target.effect);
      }),
    ),
    commands.registerCommand("lares.approveEdited", () =>
      reporting("Not approved", async () => {
        const { input } = window.tabGroups.activeTabGroup.activeTab ?? {};
        const edited = input instanceof TabInputTextDiff ? texts.get(input.modified) : undefined;
        if (edited === undefined) throw new Error("No proposal is being edited here.");
        await approve(context, texts, edited);
      }),
    ),
  );
};

async function pick({ models }: ClientContext): Promise<{ action: Action; effect: undefined } | undefined> {
  const items = models.actions.pending
    .filter(({ effects }) => effects.some(canBeEdited))
    .map((action) => ({
      label: label(action.effects.map(({ path }) => path).join(", "), 200),
      detail: label(action.title, 200),
      action,
    }));
  if (items.length === 0) {
    void window.showInformationMessage("No text that could be edited waits for you.");
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

async function open(
  context: ClientContext,
  texts: EditedTexts,
  action: Action,
  wanted: number | undefined,
): Promise<void> {
  if (action.state !== "PendingApproval") throw new Error("It does not wait any more.");
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
  const content = new TextEncoder().encode(await textOf(context.kernel, action, chosen, "after"));
  const path = uriOf(effect.path)?.path ?? `/${effect.path}`;
  const uri = Uri.from({ scheme: editScheme, path, query: `${action.id}/${chosen}` });
  const known = texts.get(uri);
  // The text that the person typed earlier is kept if it belongs to the same proposal.
  if (known?.digest !== action.digest)
    texts.open(uri, {
      action: action.id,
      effect: chosen,
      digest: action.digest,
      proposed: content,
      content,
      modified: 1,
    });
  await commands.executeCommand(
    "vscode.diff",
    uriOfSide(action.id, chosen, effect, "before"),
    uri,
    `${label(nameOf(effect.path))} (Lares: edit, then approve)`,
    { preview: false },
  );
}

async function approve(context: ClientContext, texts: EditedTexts, edited: Edited): Promise<void> {
  const action = context.models.actions.get(edited.action);
  if (action?.state !== "PendingApproval") {
    const became = action === undefined ? "gone" : decidedWord(action).toLowerCase();
    throw new Error(`The proposal is ${became} by now. Your text is still in this editor.`);
  }
  const edits: NonNullable<Approving["edits"]> = [];
  for (const [uri, text] of texts.of(edited.action)) {
    const document = workspace.textDocuments.find((one) => one.uri.toString() === uri.toString());
    const content = document?.getText() ?? new TextDecoder().decode(text.content);
    if (content !== new TextDecoder().decode(text.proposed)) edits.push({ effect: text.effect, content });
  }
  const done = await approveShown(context, action, {
    digest: edited.digest,
    edits,
    answeredBy: "lares.approve",
  });
  if (done === undefined) return;
  if (done.state !== "Committed")
    throw new Error(message(done.error ?? `It is ${decidedWord(done).toLowerCase()} now.`));
  window.setStatusBarMessage(`$(check) ${decidedWord(done)}: ${label(done.title, 80)}`, 6_000);
  await closeEditors(texts, edited.action);
}

/** The texts are in their files now, or nowhere: their editors go without a question. */
async function closeEditors(texts: EditedTexts, action: string): Promise<void> {
  const uris = new Set(texts.of(action).map(([uri]) => uri.toString()));
  for (const document of workspace.textDocuments)
    if (document.isDirty && uris.has(document.uri.toString())) await document.save();
  const tabs = window.tabGroups.all
    .flatMap((group) => group.tabs)
    .filter(({ input }) => input instanceof TabInputTextDiff && uris.has(input.modified.toString()));
  await window.tabGroups.close(tabs, true);
  texts.forget(action);
}
