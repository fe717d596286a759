import type { Action, Effect } from "../../base/vocabulary/action.ts";
import type { ActionService, FileService } from "../ports.ts";
import { changedLines, changedLinesBetween } from "./changed-lines.ts";
import { touches, type ProposedChanges } from "./proposed-changes.ts";

/** An action that waits, as one file sees it. */
export interface FileProposal {
  /** With its diffs. */
  readonly action: Action;
  /** Where in the file's text, as it is on the disk, something changes: lines from 0. `[0]` for the file as a whole. */
  readonly lines: readonly number[];
  /**
   * unsaved: the file is open with changes that are not saved; stale: it is no longer what the action was
   * made for. Neither can be approved as it is.
   */
  readonly standing: "ready" | "unsaved" | "stale";
}

export interface FileProposalsPorts {
  readonly actions: ActionService;
  readonly files: FileService;
  readonly proposed: ProposedChanges;
  /** What clients have open with changes they have not saved, by URI. */
  unsavedDocuments(): Promise<readonly string[]>;
}

/** Both sides of a file that several effects of one action change are compared up to this size. Bytes. */
const maxComparedBytes = 256 * 1024;

/** What waits for an answer and would change the file that a URI names. */
export class FileProposals {
  readonly #ports: FileProposalsPorts;

  constructor(ports: FileProposalsPorts) {
    this.#ports = ports;
  }

  /** Newest first, at most `maxShownPerFile`. */
  async waitingFor(uri: string): Promise<FileProposal[]> {
    const { actions, files, proposed } = this.#ports;
    const paths = files.pathsOf(uri);
    const waiting = await proposed.waitingAt(paths);
    if (waiting.length === 0) return [];
    const isUnsaved = await this.#isUnsaved(paths);
    const full = await Promise.all(waiting.map(({ id }) => actions.get(id)));
    const found: FileProposal[] = [];
    for (const action of full) {
      if (action?.state !== "PendingApproval") continue;
      const path = paths.find((each) => action.effects.some((effect) => touches(effect, each)));
      if (path === undefined) continue;
      const standing = isUnsaved ? "unsaved" : (await this.#isStale(action, path)) ? "stale" : "ready";
      const lines = standing === "ready" ? await this.#linesIn(action, path) : [0];
      found.push({ action, lines, standing });
    }
    return found;
  }

  /** The action that changed the file last and can be undone; null where none is known. */
  undoableFor(uri: string): Promise<Action | null> {
    return this.#ports.proposed.undoableAt(this.#ports.files.pathsOf(uri));
  }

  /** True where an action that waits is known to change the file. */
  isAwaited(uri: string): boolean {
    return this.#ports.proposed.isAwaited(this.#ports.files.pathsOf(uri));
  }

  async #isUnsaved(paths: readonly string[]): Promise<boolean> {
    const { files } = this.#ports;
    const unsaved = await this.#ports.unsavedDocuments();
    return unsaved.some((uri) => files.pathsOf(uri).some((path) => paths.includes(path)));
  }

  async #isStale({ effects }: Action, path: string): Promise<boolean> {
    const first = effects.find(
      (effect) => isOfFile(effect) && (effect.path === path || effect.from === path),
    );
    if (first === undefined) return false;
    const isTarget = first.kind === "file.move" && first.from !== path;
    const expected = isTarget ? null : first.before;
    const found = await this.#ports.files.hashOf(path);
    return found !== "unknown" && found !== expected;
  }

  async #linesIn(action: Action, path: string): Promise<readonly number[]> {
    const changing = action.effects.flatMap((effect, index) =>
      effect.path === path && isOfFile(effect) && effect.from === undefined ? [{ effect, index }] : [],
    );
    const [first] = changing;
    if (first === undefined || first.effect.before === null) return [0];
    const last = changing.at(-1);
    if (last === undefined || last === first) return orWhole(changedLines(first.effect.diff ?? ""));
    if (last.effect.after === null) return [0];
    const before = await this.#text(action.id, first.index, "before");
    const after = await this.#text(action.id, last.index, "after");
    return before === null || after === null ? [0] : orWhole(changedLinesBetween(before, after));
  }

  async #text(id: string, effect: number, side: "before" | "after"): Promise<string | null> {
    const { bytes, eof } = await this.#ports.actions.content(id, effect, side, 0, maxComparedBytes);
    return eof ? new TextDecoder().decode(bytes) : null;
  }
}

function isOfFile({ kind }: Effect): boolean {
  return kind.startsWith("file.");
}

function orWhole(lines: readonly number[]): readonly number[] {
  return lines.length === 0 ? [0] : lines;
}
