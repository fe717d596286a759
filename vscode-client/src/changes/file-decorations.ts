import {
  Disposable,
  EventEmitter,
  FileDecoration,
  ThemeColor,
  window,
  type FileDecorationProvider,
  type Uri,
} from "vscode";
import type { ClientContext, Feature } from "../feature.ts";
import { uriOf } from "../model/uris.ts";
import { touchedPaths } from "./marks.ts";

/** The number of files that can have the badge at once; the oldest proposals come first. */
const maxDecorated = 5000;

/** Marks files that a pending action would change, in the explorer, in tabs and in the editor's other lists. */
export class PendingFiles implements FileDecorationProvider, Disposable {
  readonly #context: Pick<ClientContext, "models">;
  readonly #changed = new EventEmitter<Uri[]>();
  readonly #listening: Disposable;
  readonly onDidChangeFileDecorations = this.#changed.event;
  #counts = new Map<string, { readonly uri: Uri; readonly count: number }>();

  constructor(context: Pick<ClientContext, "models">) {
    this.#context = context;
    this.#counts = this.#count();
    this.#listening = context.models.actions.onDidChange(() => this.#refresh());
  }

  provideFileDecoration(uri: Uri): FileDecoration | undefined {
    const count = this.#counts.get(uri.toString())?.count;
    if (count === undefined) return undefined;
    const decoration = new FileDecoration(
      "L",
      count === 1 ? "Lares: 1 change waits for you" : `Lares: ${count} changes wait for you`,
      new ThemeColor("lares.pendingChange"),
    );
    decoration.propagate = true;
    return decoration;
  }

  dispose(): void {
    this.#listening.dispose();
    this.#changed.dispose();
  }

  #refresh(): void {
    const before = this.#counts;
    this.#counts = this.#count();
    const changed: Uri[] = [];
    for (const [key, { uri, count }] of this.#counts) if (before.get(key)?.count !== count) changed.push(uri);
    for (const [key, { uri }] of before) if (!this.#counts.has(key)) changed.push(uri);
    if (changed.length > 0) this.#changed.fire(changed);
  }

  #count(): Map<string, { readonly uri: Uri; readonly count: number }> {
    const counts = new Map<string, { readonly uri: Uri; readonly count: number }>();
    for (const action of this.#context.models.actions.pending) {
      for (const path of touchedPaths(action)) {
        const uri = uriOf(path);
        if (uri === undefined) continue;
        const key = uri.toString();
        const count = (counts.get(key)?.count ?? 0) + 1;
        if (count > 1 || counts.size < maxDecorated) counts.set(key, { uri, count });
      }
    }
    return counts;
  }
}

export const fileDecorations: Feature = (context) => {
  const files = new PendingFiles(context);
  return Disposable.from(window.registerFileDecorationProvider(files), files);
};
