import type { EntryNode } from "./tree.ts";

/**
 * Knows what has been looked at. The system's reports of changes are read between turns, so that something new which is seen
 * in one turn may have left a place that is reported only in the next. A pass looks at everything that was reported before
 * its first turn; it may take several.
 */
export class Looks {
  #turn = 0;
  #pass: { readonly begunTurn: number; readonly folders: Iterator<EntryNode>; isAll: boolean } | null = null;
  /** Everything that was reported before this turn has been looked at. */
  #untilTurn = 0;

  get turn(): number {
    return this.#turn;
  }

  /** The first turn whose sightings may still be explained by what was not looked at. */
  get openTurn(): number {
    return this.#untilTurn;
  }

  get isUnderWay(): boolean {
    return this.#pass !== null;
  }

  /** True if everything that was reported until this turn has been looked at since. */
  hasLookedSince(turn: number): boolean {
    return turn < this.#untilTurn;
  }

  beginTurn(): void {
    this.#turn++;
  }

  /** Begins a pass over the folders with reported names, unless one is under way. */
  begin(folders: () => readonly EntryNode[]): void {
    this.#pass ??= { begunTurn: this.#turn, folders: folders().values(), isAll: true };
  }

  /** Returns the next folder; null if the pass has ended. */
  next(): EntryNode | null {
    if (this.#pass === null) return null;
    const { begunTurn, folders, isAll } = this.#pass;
    const folder = folders.next();
    if (folder.done !== true) return folder.value;
    if (isAll) this.#untilTurn = begunTurn;
    this.#pass = null;
    return null;
  }

  /** Something was reported that it is too early to look at again: this pass does not count. */
  leftOut(): void {
    if (this.#pass !== null) this.#pass.isAll = false;
  }
}
