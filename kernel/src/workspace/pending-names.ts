import { hintAgain, newPending, type Pending } from "./settling.ts";
import type { Origin } from "./recorder.ts";
import type { EntryNode } from "./tree.ts";

/** Names in folders that have to be checked, each with its due time. */
export class PendingNames {
  readonly #folders = new Map<EntryNode, Map<string, Pending>>();

  get isEmpty(): boolean {
    return this.#folders.size === 0;
  }

  hint(folder: EntryNode, name: string, nowMs: number, origin: Origin): void {
    const known = this.get(folder, name);
    if (known === undefined) this.put(folder, name, newPending(nowMs, origin));
    else hintAgain(known, nowMs, origin);
  }

  get(folder: EntryNode, name: string): Pending | undefined {
    return this.#folders.get(folder)?.get(name);
  }

  put(folder: EntryNode, name: string, pending: Pending): void {
    const names = this.#folders.get(folder);
    if (names === undefined) this.#folders.set(folder, new Map([[name, pending]]));
    else names.set(name, pending);
  }

  delete(folder: EntryNode, name: string): void {
    const names = this.#folders.get(folder);
    if (names?.delete(name) === true && names.size === 0) this.#folders.delete(folder);
  }

  folders(): readonly EntryNode[] {
    return [...this.#folders.keys()];
  }

  /**
   * Removes and returns what is due in a folder. `isAll` is false if a change was reported that it is too early to look at
   * again.
   */
  takeDue(
    folder: EntryNode,
    nowMs: number,
  ): { readonly due: readonly (readonly [string, Pending])[]; readonly isAll: boolean } {
    const due: (readonly [string, Pending])[] = [];
    let isAll = true;
    for (const each of this.#folders.get(folder) ?? [])
      if (each[1].dueAtMs <= nowMs) due.push(each);
      else if (each[1].lookedAtMs > 0 && each[1].changedAtMs > each[1].lookedAtMs) isAll = false;
    for (const [name] of due) this.delete(folder, name);
    return { due, isAll };
  }

  /** True if something new waits that was seen in this turn or later. */
  hasSightedSince(turn: number): boolean {
    return this.#folders
      .values()
      .some((names) => names.values().some(({ sightedTurn }) => sightedTurn !== null && sightedTurn >= turn));
  }

  /** Returns when the next name is due; Infinity if none waits. */
  nextDueAtMs(): number {
    let dueAtMs = Infinity;
    for (const names of this.#folders.values()) {
      for (const pending of names.values()) dueAtMs = Math.min(dueAtMs, pending.dueAtMs);
    }
    return dueAtMs;
  }

  /** True if a name waits that a scan found. */
  hasFromIndex(): boolean {
    return this.#folders.values().some((names) => names.values().some(({ origin }) => origin === "index"));
  }
}
