import {
  Disposable,
  type MarkdownString,
  OverviewRulerLane,
  Range,
  ThemeColor,
  Uri,
  window,
  workspace,
  type DecorationOptions,
  type ExtensionContext,
  type TextDocument,
  type TextEditor,
  type TextEditorDecorationType,
} from "vscode";
import type { ClientContext, Feature } from "../feature.ts";
import { hashOfFile } from "../model/file-hash.ts";
import { label, message } from "../model/text.ts";
import { uriOf } from "../model/uris.ts";
import { plainMarkdown } from "../editor/plain-markdown.ts";
import type { Action } from "../protocol.ts";
import { fileMarks, maxMarks, touchedPaths, type FileMarks, type Mark } from "./marks.ts";
import { maxActionsPerFile } from "./parts.ts";

/** Debounce time of the marks. */
const settleMs = 100;
const maxReasonCharacters = 500;

/** "about": draws nothing; the hover of the line describes the proposal. */
type Shape = Mark["kind"] | "about";

/** Marks, in the visible editors, the lines that pending actions would change. */
class Gutter implements Disposable {
  readonly #context: ClientContext;
  readonly #types: Readonly<Record<Shape, TextEditorDecorationType>>;
  readonly #listening: Disposable;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isDisposed = false;

  constructor(context: ClientContext) {
    this.#context = context;
    this.#types = {
      changed: decorationType(context.extension, "changed"),
      inserted: decorationType(context.extension, "inserted"),
      about: window.createTextEditorDecorationType({ isWholeLine: true }),
    };
    const soon = (): void => this.#soon();
    this.#listening = Disposable.from(
      context.models.actions.onDidChange(soon),
      window.onDidChangeVisibleTextEditors(soon),
      workspace.onDidChangeTextDocument(soon),
      workspace.onDidSaveTextDocument(soon),
      ...Object.values(this.#types),
    );
    this.#soon();
  }

  dispose(): void {
    this.#isDisposed = true;
    clearTimeout(this.#timer);
    this.#listening.dispose();
  }

  #soon(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      for (const editor of window.visibleTextEditors) void this.#mark(editor);
    }, settleMs);
  }

  async #mark(editor: TextEditor): Promise<void> {
    const { document } = editor;
    const { version } = document;
    const files = await this.#filesOf(document);
    // Superseded by a newer update of this editor.
    if (this.#isDisposed || document.version !== version) return;
    const decorations = decorationsOf(files, document);
    for (const shape of ["changed", "inserted", "about"] as const)
      editor.setDecorations(this.#types[shape], decorations[shape]);
  }

  /** Returns what waits for this document. An action that cannot be read right now has no lines. */
  async #filesOf({ uri }: TextDocument): Promise<readonly FileMarks[]> {
    const { actions } = this.#context.models;
    const key = uri.toString();
    const found: Promise<FileMarks | undefined>[] = [];
    for (const action of actions.pending) {
      if (found.length >= maxActionsPerFile) break;
      for (const path of touchedPaths(action)) {
        if (uriOf(path)?.toString() !== key) continue;
        found.push(this.#marksOf(action, path));
      }
    }
    return (await Promise.all(found)).filter((marks) => marks !== undefined);
  }

  async #marksOf(action: Action, path: string): Promise<FileMarks | undefined> {
    const whole = await this.#context.models.actions.withDiffs(action.id).catch(() => action);
    const marks = fileMarks(whole, path);
    if (marks === undefined || marks.lines.length === 0 || marks.before === null) return marks;
    const now = await hashOfFile(path);
    // Undefined: the hash cannot be determined here.
    return now === undefined || now === marks.before ? marks : { ...marks, lines: [], hasMovedOn: true };
  }
}

export const gutter: Feature = (context) => new Gutter(context);

/**
 * Returns the decorations of one document by shape. A change without lines, or beyond the lines that are shown, is put
 * at the top.
 */
export function decorationsOf(
  files: readonly FileMarks[],
  document: Pick<TextDocument, "isDirty" | "lineCount">,
): Record<Shape, DecorationOptions[]> {
  const byLine = new Map<number, { shape: Mark["kind"]; files: FileMarks[] }>();
  const top: readonly Mark[] = [{ line: 0, kind: "changed" }];
  for (const file of files) {
    const { lines } = file;
    for (const { line, kind } of document.isDirty || lines.length === 0 ? top : lines) {
      const place = Math.min(line, document.lineCount - 1);
      const known = byLine.get(place);
      if (known === undefined) {
        if (byLine.size < maxMarks) byLine.set(place, { shape: kind, files: [file] });
      } else {
        if (!known.files.includes(file)) known.files.push(file);
        if (kind === "changed") known.shape = "changed";
      }
    }
  }
  const decorations: Record<Shape, DecorationOptions[]> = { changed: [], inserted: [], about: [] };
  for (const [line, { shape, files }] of byLine) {
    const range = new Range(line, 0, line, 0);
    // Not the whole line: if it is wrapped, each of its rows would have the mark.
    decorations[shape].push({ range });
    decorations.about.push({ range, hoverMessage: hover(files, document.isDirty) });
  }
  return decorations;
}

/** Everything in it comes from an agent or from file names, so it is inserted as text, never as Markdown. */
function hover(files: readonly FileMarks[], isDirty: boolean): MarkdownString[] {
  const messages = files.map(({ action: { title, reason, agent }, hasMovedOn }) => {
    const lines = [
      `Lares: ${message(title, 200)}`,
      message(reason, maxReasonCharacters),
      hasMovedOn === true
        ? `Proposed by ${label(agent)} for an earlier version of this file, so it cannot be applied any more.`
        : `Proposed by ${label(agent)}. Nothing changes until you approve it.`,
    ];
    return plainMarkdown(...lines.filter((line) => line !== ""));
  });
  if (!isDirty) return messages;
  return [plainMarkdown("Save first: this file has unsaved changes."), ...messages];
}

function decorationType({ extensionUri }: ExtensionContext, shape: Mark["kind"]): TextEditorDecorationType {
  const icon = (theme: "light" | "dark"): Uri =>
    Uri.joinPath(extensionUri, "media", "gutter", `${shape}-${theme}.svg`);
  return window.createTextEditorDecorationType({
    overviewRulerColor: new ThemeColor("lares.pendingChange"),
    overviewRulerLane: OverviewRulerLane.Left,
    light: { gutterIconPath: icon("light"), gutterIconSize: "contain" },
    dark: { gutterIconPath: icon("dark"), gutterIconSize: "contain" },
  });
}
