import {
  Disposable,
  Range,
  ThemeColor,
  window,
  workspace,
  type DecorationOptions,
  type TextDocument,
  type TextEditor,
  type TextEditorDecorationType,
} from "vscode";
import { visibleText } from "../../../kernel/src/base/visible-text.ts";
import type { ClientContext, Feature } from "../feature.ts";
import { comparedWords } from "../deciding/hunks.ts";
import { proposedParts, type ProposedPart } from "./parts.ts";

/** Debounce time of the preview. */
const settleMs = 100;
/** The number of parts that are previewed in one text. */
const maxParts = 200;
/** Lines and characters of one inserted text that are drawn beside the line before it. */
const maxGhostLines = 3;
const maxGhostCharacters = 240;

/** Text that would be inserted, and the position where it would be. */
interface Ghost {
  readonly line: number;
  readonly character: number;
  readonly text: string;
}
/** Text that would be removed. */
interface Struck {
  readonly line: number;
  readonly start: number;
  readonly end: number;
}

/**
 * Draws pending changes into the text itself, as editors show suggestions: removed text is struck through, and new text
 * is drawn at its position in the colour of an insertion.
 */
class InlinePreview implements Disposable {
  readonly #context: ClientContext;
  readonly #ghost: TextEditorDecorationType;
  readonly #struck: TextEditorDecorationType;
  readonly #listening: Disposable;
  #timer: NodeJS.Timeout | undefined;
  #isDisposed = false;

  constructor(context: ClientContext) {
    this.#context = context;
    this.#ghost = window.createTextEditorDecorationType({});
    this.#struck = window.createTextEditorDecorationType({
      textDecoration: "line-through",
      backgroundColor: new ThemeColor("diffEditor.removedTextBackground"),
    });
    const soon = (): void => this.#soon();
    this.#listening = Disposable.from(
      this.#ghost,
      this.#struck,
      context.models.actions.onDidChange(soon),
      window.onDidChangeVisibleTextEditors(soon),
      workspace.onDidChangeTextDocument(soon),
      workspace.onDidSaveTextDocument(soon),
    );
    soon();
  }

  dispose(): void {
    this.#isDisposed = true;
    clearTimeout(this.#timer);
    this.#listening.dispose();
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      for (const editor of window.visibleTextEditors) if (isByItself(editor)) void this.#draw(editor);
    }, settleMs);
  }

  async #draw(editor: TextEditor): Promise<void> {
    const { document } = editor;
    const { version } = document;
    const parts = await proposedParts(this.#context, document);
    // Superseded by a newer update of this editor.
    if (this.#isDisposed || document.version !== version) return;
    const { ghosts, struck } = previewOf(parts.slice(0, maxParts), document);
    editor.setDecorations(this.#ghost, ghosts.map(ghostDecoration));
    editor.setDecorations(
      this.#struck,
      struck.map(({ line, start, end }) => ({ range: new Range(line, start, line, end) })),
    );
  }
}

/**
 * True if the editor is not one side of a diff: such an editor has no column, and the other side already shows the new
 * text.
 */
function isByItself({ viewColumn }: Pick<TextEditor, "viewColumn">): boolean {
  return viewColumn !== undefined;
}

export const inlinePreview: Feature = (context) => new InlinePreview(context);

/** Returns the ghosts and strikes of the parts. If several proposals meet on one line, only the first is drawn. */
export function previewOf(
  parts: readonly Pick<ProposedPart, "action" | "lines" | "start" | "end">[],
  document: Pick<TextDocument, "lineAt" | "lineCount">,
): { readonly ghosts: readonly Ghost[]; readonly struck: readonly Struck[] } {
  const ghosts: Ghost[] = [];
  const struck: Struck[] = [];
  const owners = new Map<number, string>();
  for (const { action, lines: hunk, start, end } of parts) {
    const own = Array.from({ length: end - start + 1 }, (_, index) => start + index);
    // Two proposals in one place would be unreadable; the lens and the review page show the other.
    if (own.some((line) => (owners.get(line) ?? action.id) !== action.id)) continue;
    for (const line of own) owners.set(line, action.id);
    let line = Math.max(0, hunk.oldStart - 1);
    for (let index = 0; index < hunk.lines.length;) {
      const removed: string[] = [];
      const added: string[] = [];
      for (; hunk.lines[index]?.startsWith("-"); index++) removed.push(hunk.lines[index]!.slice(1));
      for (; hunk.lines[index]?.startsWith("+"); index++) added.push(hunk.lines[index]!.slice(1));
      if (removed.length + added.length === 0) {
        if (!hunk.lines[index]?.startsWith("\\")) line += 1;
        index += 1;
        continue;
      }
      drawRun(line, removed, added);
      line += removed.length;
    }
  }
  return { ghosts, struck };

  function drawRun(first: number, removed: readonly string[], added: readonly string[]): void {
    if (removed.length === added.length) {
      for (const [index, before] of removed.entries()) drawWords(first + index, before, added[index]!);
      return;
    }
    for (const [index, text] of removed.entries())
      if (text !== "" && first + index < document.lineCount)
        struck.push({ line: first + index, start: 0, end: document.lineAt(first + index).text.length });
    if (added.length === 0) return;
    const ghost = ghostLines(added);
    // Before the line that it pushes down if that is the first one; otherwise after the line that it follows.
    const at = first + removed.length - 1;
    if (at < 0) ghosts.push({ line: 0, character: 0, text: `${ghost}⏎ ` });
    else if (at < document.lineCount)
      ghosts.push({ line: at, character: document.lineAt(at).text.length, text: ` ⏎ ${ghost}` });
  }

  function drawWords(line: number, before: string, after: string): void {
    if (line >= document.lineCount) return;
    const { before: gone, after: come } = alike(before, after);
    let character = 0;
    for (const { text, changed } of gone) {
      if (changed && text !== "") struck.push({ line, start: character, end: character + text.length });
      character += text.length;
    }
    // Each new piece is drawn before what it replaces: after it, the editor would draw it in the colour of the removed
    // text.
    let at = 0;
    let seen = 0;
    for (const { text, changed } of come) {
      if (!changed) {
        seen += text.length;
        at = endOfKept(gone, seen);
      } else if (text !== "") ghosts.push({ line, character: at, text: ghostLines([text]) });
    }
  }
}

/**
 * Returns the words that change, or the whole line if little of it stays, because a mixture of old and new pieces is
 * hard to read.
 */
function alike(before: string, after: string): ReturnType<typeof comparedWords> {
  const words = comparedWords(before, after);
  const kept = words.before.reduce((sum, { text, changed }) => sum + (changed ? 0 : text.length), 0);
  if (2 * kept >= Math.max(before.length, after.length)) return words;
  return { before: [{ text: before, changed: true }], after: [{ text: after, changed: true }] };
}

/** Returns where, in the old line, the first `length` unchanged characters end. */
function endOfKept(
  pieces: readonly { readonly text: string; readonly changed: boolean }[],
  length: number,
): number {
  let [kept, end] = [0, 0];
  for (const { text, changed } of pieces) {
    if (kept >= length) break;
    end += changed ? text.length : Math.min(text.length, length - kept);
    if (!changed) kept += text.length;
  }
  return end;
}

function ghostLines(lines: readonly string[]): string {
  const shown = lines
    .slice(0, maxGhostLines)
    .map((line) => visibleText(line))
    .join(" ⏎ ");
  const left = lines.length - maxGhostLines;
  const cut =
    shown.length > maxGhostCharacters
      ? `${shown.slice(0, maxGhostCharacters).toWellFormed()} (and more)`
      : shown;
  return left > 0 ? `${cut} ⏎ and ${left.toLocaleString("en")} more lines` : cut;
}

function ghostDecoration({ line, character, text }: Ghost): DecorationOptions {
  return {
    range: new Range(line, character, line, character),
    renderOptions: {
      before: {
        contentText: text,
        // The editor's own colour for ghost text is too pale on this background.
        color: new ThemeColor("editor.foreground"),
        margin: "0 0.5ch 0 0",
        backgroundColor: new ThemeColor("diffEditor.insertedTextBackground"),
        fontStyle: "italic",
      },
    },
  };
}
