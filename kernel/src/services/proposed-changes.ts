import type { Action, Effect } from "../base/vocabulary/action.ts";
import type { ActionService } from "./ports.ts";

/** The number of waiting actions that are indexed by path; the newest ones. */
export const maxPendingKnown = 1000;
/** The number of newest committed actions among which a file finds one to undo. */
export const maxUndoableKnown = 50;
/** The number of newest stale actions among which a file finds one to rebase. */
const maxRebasableKnown = 200;
/** The number of actions that one file shows; the newest ones. */
export const maxShownPerFile = 20;

/** Which actions concern which file. Cached, because it is asked at every movement of a cursor. */
export class ProposedChanges implements Disposable {
  readonly #actions: ActionService;
  readonly #pending = new Map<string, Action>();
  readonly #committed = new Map<string, Action>();
  readonly #rebasable = new Map<string, Action>();
  /** Ids of waiting actions, by each path that they touch. */
  readonly #waitingAt = new Map<string, Set<string>>();
  readonly #listening: Disposable;
  /** Ids that changed while the first list was loaded; the changes are newer than the list. */
  #heard: Set<string> | null = null;
  #filled: Promise<void> | null = null;

  constructor(actions: ActionService) {
    this.#actions = actions;
    this.#listening = actions.changed.on((action) => {
      this.#heard?.add(action.id);
      this.#take(action);
    });
  }

  /** Returns the waiting actions that would change one of these paths, newest first, without diffs. */
  async waitingAt(paths: readonly string[]): Promise<Action[]> {
    await this.#fill();
    const ids = new Set(paths.flatMap((path) => this.#idsAt(path)));
    return [...ids]
      .flatMap((id) => this.#pending.get(id) ?? [])
      .toSorted(newestFirst)
      .slice(0, maxShownPerFile);
  }

  /** Returns the last action that changed one of these paths and can be undone, as far as cached. */
  async undoableAt(paths: readonly string[]): Promise<Action | null> {
    await this.#fill();
    const touching = [...this.#committed.values()].filter(({ effects, receipt }) =>
      effects.some(
        (effect, index) =>
          receipt?.applied.includes(index) === true && paths.some((path) => touches(effect, path)),
      ),
    );
    return touching.toSorted(lastDecidedFirst)[0] ?? null;
  }

  /** Returns stale actions that would change one of these paths and can be rebased, newest first, without diffs. */
  async rebasableAt(paths: readonly string[]): Promise<Action[]> {
    await this.#fill();
    return [...this.#rebasable.values()]
      .filter(({ effects }) => effects.some((effect) => paths.some((path) => touches(effect, path))))
      .toSorted(newestFirst)
      .slice(0, maxShownPerFile);
  }

  /** Returns true if a waiting action is known to touch one of these paths. */
  isAwaited(paths: readonly string[]): boolean {
    return paths.some((path) => this.#idsAt(path).length > 0);
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]();
  }

  #fill(): Promise<void> {
    this.#filled ??= this.#read().catch((error: unknown) => {
      this.#filled = null;
      throw error;
    });
    return this.#filled;
  }

  async #read(): Promise<void> {
    const heard = new Set<string>();
    this.#heard = heard;
    try {
      const lists = await Promise.all([
        this.#actions.list({ state: "PendingApproval", limit: maxPendingKnown }),
        this.#actions.list({ state: "Committed", limit: maxUndoableKnown }),
        this.#actions.list({ state: "Stale", limit: maxRebasableKnown }),
      ]);
      for (const action of lists.flat()) if (!heard.has(action.id)) this.#take(action);
    } finally {
      this.#heard = null;
    }
  }

  #take(action: Action): void {
    this.#forget(action.id);
    if (action.state === "PendingApproval") {
      this.#pending.set(action.id, action);
      for (const path of pathsOf(action)) {
        const ids = this.#waitingAt.get(path) ?? new Set();
        this.#waitingAt.set(path, ids.add(action.id));
      }
      if (this.#pending.size > maxPendingKnown) this.#forget(oldest(this.#pending));
    }
    if (action.state === "Committed") {
      this.#committed.set(action.id, action);
      if (this.#committed.size > maxUndoableKnown) this.#committed.delete(oldest(this.#committed));
    }
    if (action.state === "Stale" && action.rebasable === true) {
      this.#rebasable.set(action.id, action);
      if (this.#rebasable.size > maxRebasableKnown) this.#rebasable.delete(oldest(this.#rebasable));
    }
  }

  #forget(id: string): void {
    this.#committed.delete(id);
    this.#rebasable.delete(id);
    const action = this.#pending.get(id);
    if (action === undefined) return;
    this.#pending.delete(id);
    for (const path of pathsOf(action)) {
      const ids = this.#waitingAt.get(path);
      ids?.delete(id);
      if (ids?.size === 0) this.#waitingAt.delete(path);
    }
  }

  #idsAt(path: string): string[] {
    return [path, ...foldersAbove(path)].flatMap((candidate) =>
      [...(this.#waitingAt.get(candidate) ?? [])].filter((id) =>
        this.#pending.get(id)?.effects.some((effect) => touches(effect, path)),
      ),
    );
  }
}

/** Returns true if the effect changes what is at the path; moving a folder moves its contents. */
export function touches(effect: Effect, path: string): boolean {
  if (effect.path === path || effect.from === path) return true;
  return effect.from !== undefined && path.startsWith(`${effect.from}/`);
}

function pathsOf({ effects }: Action): Set<string> {
  return new Set(effects.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from])));
}

function foldersAbove(path: string): string[] {
  const parts = path.split("/");
  return parts.slice(1).map((_part, index) => parts.slice(0, index + 1).join("/"));
}

/** Ids are UUIDv7, so they sort in the order of the proposals. */
function newestFirst(one: Action, other: Action): number {
  return one.id < other.id ? 1 : -1;
}

function lastDecidedFirst(one: Action, other: Action): number {
  return (one.receipt?.finished ?? "") < (other.receipt?.finished ?? "") ? 1 : -1;
}

function oldest(actions: ReadonlyMap<string, Action>): string {
  return [...actions.keys()].reduce((one, other) => (other < one ? other : one));
}
