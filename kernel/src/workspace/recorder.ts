import { newId } from "../base/ids.ts";
import type { EntryChange } from "../base/vocabulary/event.ts";
import type { Observation } from "../platform/files/folder-reader.ts";
import type { ChangeLog } from "./change-log.ts";
import { entryOf } from "./entry.ts";
import { rowOf } from "./rows.ts";
import { EntryNode, pathOf, subtree, type EntryTree } from "./tree.ts";

export type Origin = "live" | "index";

interface RecorderPorts {
  readonly tree: EntryTree;
  readonly changes: ChangeLog;
  /** The content of this file has to be read (again). */
  unhashed(node: EntryNode): void;
  /** A folder left the index. */
  folderGone(node: EntryNode): void;
}

/** Records what was found: in the tree, in the table, and as a change for the agents. */
export class Recorder {
  readonly #ports: RecorderPorts;

  constructor(ports: RecorderPorts) {
    this.#ports = ports;
  }

  create(parent: EntryNode, name: string, observed: Observation, origin: Origin): EntryNode {
    const kind = observed.kind === "folder" ? "folder" : "file";
    const node = new EntryNode(newId(), name, kind, observed);
    this.#ports.tree.add(parent, node);
    this.#record(node, { kind: "created", entry: entryOf(node), origin });
    if (kind === "file") this.#ports.unhashed(node);
    return node;
  }

  /** Records changed content or times; the content id is unknown until the file was read again. */
  modify(node: EntryNode, observed: Observation, origin: Origin): void {
    const changed: string[] = [];
    if (node.size !== observed.size) changed.push("size");
    if (node.birthtimeMs !== observed.birthtimeMs) changed.push("created");
    if (node.mtimeMs !== observed.mtimeMs) changed.push("modified");
    changed.push("content_id");
    node.take(observed);
    this.#ports.tree.setContentId(node, null);
    this.#record(node, { kind: "modified", entry: entryOf(node), changed_fields: changed, origin });
    this.#ports.unhashed(node);
  }

  /** The content may differ from what was read. */
  reread(node: EntryNode): void {
    if (node.contentId !== null) {
      this.#ports.tree.setContentId(node, null);
      this.#record(node, null);
    }
    this.#ports.unhashed(node);
  }

  /** Records what is not an event: another inode, a folder's times. */
  refresh(node: EntryNode, observed: Observation): void {
    node.take(observed);
    this.#record(node, null);
  }

  /** Moving a folder reports one change for each entry in it, because their paths change too. */
  move(node: EntryNode, parent: EntryNode, name: string, origin: Origin): void {
    const before = [...subtree(node)].map((moved) => ({ moved, from: pathOf(moved) }));
    this.#ports.tree.move(node, parent, name);
    for (const { moved, from } of before) {
      this.#record(moved, { kind: "moved", entry: entryOf(moved), from, origin });
      // A read that began before the move was known has failed.
      if (moved.kind === "file" && moved.contentId === null) this.#ports.unhashed(moved);
    }
  }

  /** Removes the node and everything beneath it, deepest first. */
  remove(node: EntryNode, origin: Origin): void {
    for (const child of [...subtree(node)].toReversed()) {
      const change: EntryChange = { kind: "deleted", entry_id: child.id, path: pathOf(child), origin };
      this.#ports.tree.remove(child);
      if (child.kind === "folder") this.#ports.folderGone(child);
      this.#ports.changes.add({ id: child.id, row: null, change });
    }
  }

  #record(node: EntryNode, change: EntryChange | null): void {
    this.#ports.changes.add({ id: node.id, row: rowOf(node), change });
  }
}
