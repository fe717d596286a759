import type { EntryNode } from "./tree.ts";

/** Nodes by a key that most often only one node has: a set is made when a second one comes. */
export class NodeSets<Key> {
  readonly #nodes = new Map<Key, EntryNode | Set<EntryNode>>();

  add(key: Key, node: EntryNode): void {
    const held = this.#nodes.get(key);
    if (held === undefined) this.#nodes.set(key, node);
    else if (held instanceof Set) held.add(node);
    else if (held !== node) this.#nodes.set(key, new Set([held, node]));
  }

  delete(key: Key, node: EntryNode): void {
    const held = this.#nodes.get(key);
    if (held === node) this.#nodes.delete(key);
    else if (held instanceof Set && held.delete(node) && held.size === 0) this.#nodes.delete(key);
  }

  get(key: Key): readonly EntryNode[] {
    return this.getFew(key, Number.POSITIVE_INFINITY) ?? [];
  }

  /** Null if there are more than so many. */
  getFew(key: Key, atMost: number): readonly EntryNode[] | null {
    const held = this.#nodes.get(key);
    if (held === undefined) return [];
    if (!(held instanceof Set)) return [held];
    return held.size > atMost ? null : [...held];
  }
}
