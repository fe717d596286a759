/** Nodes by a key that usually only one node has: a set is created only for the second one. */
export class NodeSets<Key, Node extends object> {
  readonly #nodes = new Map<Key, Node | Set<Node>>();

  add(key: Key, node: Node): void {
    const held = this.#nodes.get(key);
    if (held === undefined) this.#nodes.set(key, node);
    else if (held instanceof Set) held.add(node);
    else if (held !== node) this.#nodes.set(key, new Set([held, node]));
  }

  delete(key: Key, node: Node): void {
    const held = this.#nodes.get(key);
    if (held === node) this.#nodes.delete(key);
    else if (held instanceof Set && held.delete(node) && held.size === 0) this.#nodes.delete(key);
  }

  get(key: Key): readonly Node[] {
    return this.getFew(key, Number.POSITIVE_INFINITY) ?? [];
  }

  /** Returns null if there are more than `atMost`. */
  getFew(key: Key, atMost: number): readonly Node[] | null {
    const held = this.#nodes.get(key);
    if (held === undefined) return [];
    if (!(held instanceof Set)) return [held];
    return held.size > atMost ? null : [...held];
  }
}
