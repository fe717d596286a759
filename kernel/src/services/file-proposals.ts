import type { Action, Effect } from "../base/vocabulary/action.ts";
import type { FileService } from "./files.ts";
import type { ActionService } from "./ports.ts";
import { changedLines, changedLinesBetween } from "./changed-lines.ts";
import { touches, type ProposedChanges } from "./proposed-changes.ts";
import type { UnsavedDocuments } from "./unsaved-documents.ts";

/** A waiting action, from the view of one file. */
export interface FileProposal {
  /** Without its diffs. */
  readonly action: Action;
  /** The file's path as the action names it. */
  readonly path: string;
  /** The lines, from 0, of the file's text on the disk where changes begin. `[0]` stands for the whole file. */
  readonly lines: readonly number[];
  /**
   * unsaved: the file is open with unsaved changes; stale: it has changed since the action was proposed. Neither
   * can be approved as it is.
   */
  readonly standing: "ready" | "unsaved" | "stale";
}

interface FileProposalsPorts {
  readonly actions: ActionService;
  readonly files: FileService;
  readonly proposed: ProposedChanges;
  /** The clients' documents with unsaved changes. */
  readonly unsaved: Pick<UnsavedDocuments, "among">;
}

/** The size up to which the two sides of a file that several effects change are compared. Bytes. */
const maxComparedBytes = 256 * 1024;
/** The number of cached results, by action and file. An action's effects never change. The oldest is evicted. */
const maxKnownLines = 1000;

/** The waiting actions that would change the file of a URI. */
export class FileProposals {
  readonly #ports: FileProposalsPorts;
  /** By action and path. */
  readonly #lines = new Map<string, readonly number[]>();

  constructor(ports: FileProposalsPorts) {
    this.#ports = ports;
  }

  /** Newest first, at most `maxShownPerFile`. */
  async waitingFor(uri: string): Promise<FileProposal[]> {
    const { files, proposed } = this.#ports;
    const paths = await files.pathsOf(uri);
    const waiting = await proposed.waitingAt(paths);
    const [path] = paths;
    if (waiting.length === 0 || path === undefined) return [];
    const isUnsaved = (await this.#ports.unsaved.among(paths)) !== null;
    // All of these paths name the same file.
    const found = await files.hashOf(path);
    return Promise.all(
      waiting.map(async (action) => {
        const affected = affectedPath(action, paths);
        const standing = isUnsaved ? "unsaved" : isStale(action, affected, found) ? "stale" : "ready";
        const lines = standing === "ready" ? await this.#linesIn(action, affected) : [0];
        return { action, path: affected, lines, standing };
      }),
    );
  }

  /** Returns the action that last changed the file and can be undone; null if none is known. */
  async undoableFor(uri: string): Promise<Action | null> {
    return this.#ports.proposed.undoableAt(await this.#ports.files.pathsOf(uri));
  }

  /** Returns stale actions that would have changed the file and can be rebased, newest first. */
  async rebasableFor(uri: string): Promise<{ readonly action: Action; readonly path: string }[]> {
    const paths = await this.#ports.files.pathsOf(uri);
    const rebasable = await this.#ports.proposed.rebasableAt(paths);
    return rebasable.map((action) => ({ action, path: affectedPath(action, paths) }));
  }

  /** Returns true if a waiting action is known to change the file. */
  async isAwaited(uri: string): Promise<boolean> {
    return this.#ports.proposed.isAwaited(await this.#ports.files.pathsOf(uri));
  }

  async #linesIn(action: Action, path: string): Promise<readonly number[]> {
    const key = `${action.id} ${path}`;
    const lines = this.#lines.get(key) ?? (await this.#readLines(action, path));
    this.#lines.delete(key);
    this.#lines.set(key, lines);
    const [oldest] = this.#lines.keys();
    if (this.#lines.size > maxKnownLines && oldest !== undefined) this.#lines.delete(oldest);
    return lines;
  }

  async #readLines({ id, effects }: Action, path: string): Promise<readonly number[]> {
    const changing = effects.flatMap((effect, index) =>
      effect.path === path && isOfFile(effect) && effect.from === undefined ? [{ effect, index }] : [],
    );
    const [first] = changing;
    const last = changing.at(-1);
    if (first === undefined || last === undefined || first.effect.before === null) return [0];
    if (last === first) {
      const action = await this.#ports.actions.get(id);
      return orWhole(changedLines(action?.effects[first.index]?.diff ?? ""));
    }
    if (last.effect.after === null) return [0];
    const before = await this.#text(id, first.index, "before");
    const after = await this.#text(id, last.index, "after");
    return before === null || after === null ? [0] : orWhole(changedLinesBetween(before, after));
  }

  async #text(id: string, effect: number, side: "before" | "after"): Promise<string | null> {
    const { bytes, eof } = await this.#ports.actions.content(id, effect, side, 0, maxComparedBytes);
    return eof ? new TextDecoder().decode(bytes) : null;
  }
}

/** Returns the path that the action names, out of the paths of one file. */
function affectedPath({ effects }: Action, paths: readonly string[]): string {
  return paths.find((each) => effects.some((effect) => touches(effect, each))) ?? paths[0] ?? "";
}

function isStale({ effects }: Action, path: string, found: string | null): boolean {
  const first = effects.find((effect) => isOfFile(effect) && (effect.path === path || effect.from === path));
  if (first === undefined || found === "unknown") return false;
  const isTarget = first.kind === "file.move" && first.from !== path;
  return found !== (isTarget ? null : first.before);
}

function isOfFile({ kind }: Effect): boolean {
  return kind.startsWith("file.");
}

function orWhole(lines: readonly number[]): readonly number[] {
  return lines.length === 0 ? [0] : lines;
}
