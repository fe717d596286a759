import { foldersAbove, foldPath, parentOf } from "../../policy/paths.ts";
import type { Base } from "./bases.ts";

interface Followed {
  readonly agent: string;
  readonly bases: readonly Base[];
}

/** A base and the action that depends on it. */
export interface BaseOf {
  readonly action: string;
  readonly agent: string;
  readonly base: Base;
}

/**
 * Finds the actions that have a base at a path. A lookup costs the depth of the path plus the number of results,
 * however many actions there are. Paths are compared folded, because two spellings may be the same file; at worst a
 * base is compared once too often.
 */
export class BaseIndex {
  readonly #actions = new Map<string, Followed>();
  /** Actions by the folded paths of their bases. */
  readonly #at = new Map<string, Set<string>>();
  /** Folded paths of bases by the folders that contain them. */
  readonly #beneath = new Map<string, Set<string>>();
  /** Actions by the folders that they move, then by agent. */
  readonly #movedFolders = new Map<string, Map<string, Set<string>>>();

  get isEmpty(): boolean {
    return this.#actions.size === 0;
  }

  add(action: string, agent: string, bases: readonly Base[]): void {
    if (this.#actions.has(action)) return;
    this.#actions.set(action, { agent, bases });
    for (const { is, path } of bases) {
      const folded = foldPath(path);
      if (!this.#at.has(folded))
        for (const folder of foldersAbove(folded)) addTo(this.#beneath, folder, folded);
      addTo(this.#at, folded, action);
      if (is !== "folder") continue;
      const ofAgents = this.#movedFolders.get(folded) ?? new Map<string, Set<string>>();
      this.#movedFolders.set(folded, ofAgents);
      addTo(ofAgents, agent, action);
    }
  }

  remove(action: string): void {
    const followed = this.#actions.get(action);
    if (followed === undefined) return;
    this.#actions.delete(action);
    for (const { path } of followed.bases) {
      const folded = foldPath(path);
      removeFrom(this.#at, folded, action);
      this.#forgetMoved(folded, followed.agent, action);
      if (!this.#at.has(folded))
        for (const folder of foldersAbove(folded)) removeFrom(this.#beneath, folder, folded);
    }
  }

  /** Returns the folded path if an action has a base there; with `beneath`, also the paths inside that folder. */
  affectedBy(path: string, beneath: boolean): string[] {
    const folded = foldPath(path);
    const own = this.#at.has(folded) ? [folded] : [];
    return beneath ? [...own, ...(this.#beneath.get(folded) ?? [])] : own;
  }

  /** Returns the bases at a folded path. */
  at(folded: string): BaseOf[] {
    return [...(this.#at.get(folded) ?? [])].flatMap((action) => {
      const { agent = "", bases = [] } = this.#actions.get(action) ?? {};
      return bases.filter(({ path }) => foldPath(path) === folded).map((base) => ({ action, agent, base }));
    });
  }

  /** Returns the actions that move a folder above this path, grouped by agent. */
  movedAbove(path: string): { readonly agent: string; readonly actions: readonly string[] }[] {
    if (this.#movedFolders.size === 0) return [];
    const found: { agent: string; actions: string[] }[] = [];
    for (let above = parentOf(foldPath(path)); above !== null; above = parentOf(above))
      for (const [agent, actions] of this.#movedFolders.get(above) ?? [])
        found.push({ agent, actions: [...actions] });
    return found;
  }

  /** Returns the folded paths of all bases. */
  all(): string[] {
    return [...this.#at.keys()];
  }

  pathsOf(action: string): string[] {
    return (this.#actions.get(action)?.bases ?? []).map(({ path }) => path);
  }

  #forgetMoved(folded: string, agent: string, action: string): void {
    const ofAgents = this.#movedFolders.get(folded);
    if (ofAgents === undefined) return;
    removeFrom(ofAgents, agent, action);
    if (ofAgents.size === 0) this.#movedFolders.delete(folded);
  }
}

function addTo(map: Map<string, Set<string>>, key: string, value: string): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, new Set([value]));
  else known.add(value);
}

function removeFrom(map: Map<string, Set<string>>, key: string, value: string): void {
  const known = map.get(key);
  if (known?.delete(value) === true && known.size === 0) map.delete(key);
}
