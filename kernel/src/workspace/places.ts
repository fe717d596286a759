import type { FolderReader, OpenFolder } from "../platform/files/folder-reader.ts";
import type { FileReads } from "./ports.ts";
import { pathOf, type EntryNode, type EntryTree } from "./tree.ts";

/** An opened root: its node in the tree, and the reader for files beneath it. */
export interface Place {
  readonly name: string;
  readonly node: EntryNode;
  readonly reader: FolderReader;
  readonly reads: FileReads;
}

/** Maps nodes and workspace paths to the file system. */
export class Places {
  readonly #places: readonly Place[];
  readonly #byNode: ReadonlyMap<EntryNode, Place>;
  readonly #tree: EntryTree;

  constructor(tree: EntryTree, places: readonly Place[]) {
    this.#tree = tree;
    this.#places = places;
    this.#byNode = new Map(places.map((place) => [place.node, place]));
  }

  get all(): readonly Place[] {
    return this.#places;
  }

  /** Returns null for a node that is no longer in the tree. */
  locate(node: EntryNode): { place: Place; components: string[] } | null {
    const components: string[] = [];
    for (let at: EntryNode | null = node; at !== null; at = at.parent) {
      const place = this.#byNode.get(at);
      if (place !== undefined) return { place, components: components.toReversed() };
      components.push(at.name);
    }
    return null;
  }

  /** Opens the folder, or one beneath it that the index does not have. The caller must `release` it. */
  open(folder: EntryNode, beneath: readonly string[] = []): OpenFolder | null {
    const located = this.locate(folder);
    return located === null ? null : located.place.reader.open([...located.components, ...beneath]);
  }

  /** Returns true if the root of this folder exists. Nothing beneath a missing root counts as deleted. */
  hasRoot(folder: EntryNode): boolean {
    return this.locate(folder)?.place.reader.rootState() === "root";
  }

  release(): void {
    for (const place of this.#places) place.reader.release();
  }

  /** Returns the depth below the root; -1 outside of all roots. */
  depthOf(node: EntryNode): number {
    return this.locate(node)?.components.length ?? -1;
  }

  /** Returns the reader for this node's content, and the path relative to its root. */
  reads(node: EntryNode): { reads: FileReads; path: string } | null {
    const located = this.locate(node);
    return located === null ? null : { reads: located.place.reads, path: located.components.join("/") };
  }

  /** Returns the deepest folder on the path that the index has, and the other names; null for an invalid path. */
  nearest(path: string): { folder: EntryNode; names: readonly string[] } | null {
    const names = path.split("/");
    if (names.some((name) => name === "" || name === "." || name === "..")) return null;
    let folder = this.#tree.top;
    if (!this.#byNode.has(folder)) {
      const root = folder.child(names.shift() ?? "");
      if (root === undefined) return null;
      folder = root;
    }
    while (names.length > 1) {
      const child = folder.child(names[0] ?? "");
      if (child === undefined || child.children === null) break;
      folder = child;
      names.shift();
    }
    return names.length === 0 ? null : { folder, names };
  }

  /** Returns the workspace path of a name in a folder. */
  static pathIn(folder: EntryNode, name: string): string {
    const path = pathOf(folder);
    return path === "" ? name : `${path}/${name}`;
  }
}
