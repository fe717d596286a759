import type { Hash } from "../base/vocabulary/common.ts";
import type { Entry, EntryKind } from "../base/vocabulary/entry.ts";
import { NodeSets } from "./node-sets.ts";

/** Metadata that people and agents attached to an entry. */
export interface Metadata {
  /** Sorted. */
  readonly tags: readonly string[];
  readonly fields: Entry["fields"];
  /** Kind of sidecar → hash of its canonical JSON. The data itself stays in the database. */
  readonly sidecars: ReadonlyMap<string, Hash>;
}

export const noMetadata: Metadata = { tags: [], fields: {}, sidecars: new Map() };

/** The file system's facts about an entry when it was last checked. */
export interface FileFacts {
  readonly size: number;
  readonly mtimeMs: number;
  readonly birthtimeMs: number;
  readonly inode: number;
  readonly device: number;
}

/** An entry in memory. Its path follows from its position in the tree, so moving a folder moves its contents. */
export class EntryNode implements FileFacts {
  readonly id: string;
  name: string;
  parent: EntryNode | null = null;
  readonly kind: EntryKind;
  size: number;
  mtimeMs: number;
  birthtimeMs: number;
  inode: number;
  device: number;
  contentId: Hash | null = null;
  metadata: Metadata = noMetadata;
  /** Null for a file. */
  readonly children: Map<string, EntryNode> | null;
  #sorted: readonly EntryNode[] | null = null;

  constructor(id: string, name: string, kind: EntryKind, facts: FileFacts) {
    this.id = id;
    this.name = name;
    this.kind = kind;
    this.size = facts.size;
    this.mtimeMs = facts.mtimeMs;
    this.birthtimeMs = facts.birthtimeMs;
    this.inode = facts.inode;
    this.device = facts.device;
    this.children = kind === "folder" ? new Map() : null;
  }

  /** False for the workspace and its roots, which are nodes of the tree but no entries. */
  get isEntry(): boolean {
    return this.id !== "";
  }

  child(name: string): EntryNode | undefined {
    return this.children?.get(name);
  }

  /** Children sorted by name, in the order of UTF-16 code units. */
  get sorted(): readonly EntryNode[] {
    this.#sorted ??= [...(this.children?.values() ?? [])].toSorted((a, b) => (a.name < b.name ? -1 : 1));
    return this.#sorted;
  }

  attach(child: EntryNode): void {
    if (this.children === null) throw new TypeError(`"${this.name}" is a file and has no children.`);
    this.children.set(child.name, child);
    child.parent = this;
    this.#sorted = null;
  }

  detach(child: EntryNode): void {
    if (this.children?.get(child.name) === child) this.children.delete(child.name);
    child.parent = null;
    this.#sorted = null;
  }

  take(facts: FileFacts): void {
    this.size = facts.size;
    this.mtimeMs = facts.mtimeMs;
    this.birthtimeMs = facts.birthtimeMs;
    this.inode = facts.inode;
    this.device = facts.device;
  }
}

const nowhere: FileFacts = { size: 0, mtimeMs: 0, birthtimeMs: 0, inode: 0, device: 0 };

/** All entries of a workspace, by path, id, content and tag. */
export class EntryTree {
  /** The workspace itself: path "". */
  readonly top = new EntryNode("", "", "folder", nowhere);
  readonly byContent = new NodeSets<Hash, EntryNode>();
  readonly byTag = new NodeSets<string, EntryNode>();
  /** By the ending of their names; see `endingOf`. */
  readonly byEnding = new NodeSets<string, EntryNode>();
  readonly #byId = new Map<string, EntryNode>();

  get size(): number {
    return this.#byId.size;
  }

  byId(id: string): EntryNode | undefined {
    return this.#byId.get(id);
  }

  nodes(): Iterable<EntryNode> {
    return this.#byId.values();
  }

  /** Adds one of several roots: a folder that is part of every path, but not an entry. */
  addRoot(name: string): EntryNode {
    const root = new EntryNode("", name, "folder", nowhere);
    this.top.attach(root);
    return root;
  }

  /** Returns the node at exactly this path, in this spelling; "" is the workspace. */
  at(path: string): EntryNode | undefined {
    let node: EntryNode | undefined = this.top;
    if (path !== "") for (const name of path.split("/")) node = node?.child(name);
    return node;
  }

  /** As `at`; if there is no exact match, also finds a path that is written in another Unicode form. */
  find(path: string): EntryNode | undefined {
    if (path === "") return this.top;
    let node: EntryNode | undefined = this.top;
    for (const name of path.split("/")) {
      node = node.child(name) ?? childInOtherForm(node, name);
      if (node === undefined) return undefined;
    }
    return node;
  }

  add(parent: EntryNode, node: EntryNode): void {
    parent.attach(node);
    this.#byId.set(node.id, node);
    this.byEnding.add(endingOf(node.name), node);
    if (node.contentId !== null) this.byContent.add(node.contentId, node);
    for (const tag of node.metadata.tags) this.byTag.add(tag, node);
  }

  /** Removes one node; the caller must remove its children first. */
  remove(node: EntryNode): void {
    node.parent?.detach(node);
    this.#byId.delete(node.id);
    this.byEnding.delete(endingOf(node.name), node);
    this.setContentId(node, null);
    this.setMetadata(node, noMetadata);
  }

  move(node: EntryNode, parent: EntryNode, name: string): void {
    node.parent?.detach(node);
    this.byEnding.delete(endingOf(node.name), node);
    node.name = name;
    this.byEnding.add(endingOf(name), node);
    parent.attach(node);
  }

  setContentId(node: EntryNode, contentId: Hash | null): void {
    if (node.contentId !== null) this.byContent.delete(node.contentId, node);
    node.contentId = contentId;
    if (contentId !== null) this.byContent.add(contentId, node);
  }

  setMetadata(node: EntryNode, metadata: Metadata): void {
    const added = new Set(metadata.tags);
    // Compared first, because an action may change many tags one by one on an entry that has very many.
    for (const tag of node.metadata.tags) if (!added.delete(tag)) this.byTag.delete(tag, node);
    node.metadata = metadata;
    for (const tag of added) this.byTag.add(tag, node);
  }
}

/** The ending of names with letters outside ASCII, because some of those letters fold to an ASCII letter. */
export const foreignEnding = "\u{80}";

/** Returns the part after the name's last dot in lower case; "" without a dot. */
function endingOf(name: string): string {
  const ending = name.slice(name.lastIndexOf(".") + 1 || name.length);
  return isAscii(ending) ? ending.toLowerCase() : foreignEnding;
}

function childInOtherForm(folder: EntryNode, name: string): EntryNode | undefined {
  if (isAscii(name) || folder.children === null) return undefined;
  const form = name.normalize("NFC");
  return folder.children.values().find((child) => child.name.normalize("NFC") === form);
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return false;
  return true;
}

/** Returns the path relative to the workspace; "" for the workspace itself. */
export function pathOf(node: EntryNode): string {
  let path = node.name;
  for (let up = node.parent; up !== null && up.name !== ""; up = up.parent) path = `${up.name}/${path}`;
  return path;
}

/** Yields the node and everything beneath it, parents first. */
export function* subtree(node: EntryNode): Generator<EntryNode> {
  yield node;
  if (node.children !== null) for (const child of node.children.values()) yield* subtree(child);
}

/** Returns false if the node, or one above it, was removed from the tree. */
export function isAttached(tree: EntryTree, node: EntryNode): boolean {
  let up: EntryNode = node;
  while (up.parent !== null) up = up.parent;
  return up === tree.top;
}

/** Returns true if the observation of a file agrees with what is known of it. */
export function isUnchanged(known: FileFacts, observed: FileFacts): boolean {
  return (
    known.size === observed.size &&
    known.mtimeMs === observed.mtimeMs &&
    known.inode === observed.inode &&
    known.device === observed.device
  );
}

export function isSameFolder(
  known: Pick<FileFacts, "inode" | "device">,
  observed: Pick<FileFacts, "inode" | "device">,
): boolean {
  return known.inode === observed.inode && known.device === observed.device;
}

/** Returns true if the node is the folder or lies inside it, at any depth. */
export function contains(folder: EntryNode, node: EntryNode): boolean {
  for (let at: EntryNode | null = node; at !== null; at = at.parent) if (at === folder) return true;
  return false;
}
