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

  /** Removes and returns what is due, one folder at a time. */
  *takeDue(nowMs: number): Generator<{ folder: EntryNode; due: readonly (readonly [string, Pending])[] }> {
    for (const [folder, names] of this.#folders) {
      const due = [...names].filter(([, pending]) => pending.dueAtMs <= nowMs);
      for (const [name] of due) this.delete(folder, name);
      if (due.length > 0) yield { folder, due };
    }
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
