import {
  EventEmitter,
  ThemeColor,
  ThemeIcon,
  TreeItem,
  TreeItemCollapsibleState,
  type Disposable,
  type TreeDataProvider,
} from "vscode";
import { uriOf } from "../model/uris.ts";
import { plainMarkdown } from "../plain-markdown.ts";
import type { TreeNode } from "./tree-node.ts";

/** Shows what a function of the models makes of them. */
export class NodeTree implements TreeDataProvider<TreeNode>, Disposable {
  readonly #build: () => readonly TreeNode[];
  readonly #changed = new EventEmitter<void>();
  readonly onDidChangeTreeData = this.#changed.event;
  #roots: readonly TreeNode[] | null = null;
  readonly #parents = new Map<string, TreeNode>();

  constructor(build: () => readonly TreeNode[]) {
    this.#build = build;
  }

  /** The editor holds back, for a moment, what changes soon after a change: an empty tree that stays empty is none. */
  refresh(): void {
    const wasEmpty = this.#roots?.length === 0;
    this.#roots = null;
    if (!wasEmpty || this.roots.length > 0) this.#changed.fire();
  }

  get roots(): readonly TreeNode[] {
    if (this.#roots === null) {
      this.#roots = this.#build();
      this.#parents.clear();
      for (const root of this.#roots) this.#adopt(root);
    }
    return this.#roots;
  }

  getChildren(node?: TreeNode): TreeNode[] {
    return [...(node === undefined ? this.roots : (node.children ?? []))];
  }

  getParent(node: TreeNode): TreeNode | undefined {
    return this.#parents.get(node.id);
  }

  getTreeItem(node: TreeNode): TreeItem {
    return treeItem(node);
  }

  dispose(): void {
    this.#changed.dispose();
  }

  #adopt(parent: TreeNode): void {
    for (const child of parent.children ?? []) {
      this.#parents.set(child.id, parent);
      this.#adopt(child);
    }
  }
}

export function treeItem(node: TreeNode): TreeItem {
  const { Collapsed, Expanded, None } = TreeItemCollapsibleState;
  const item = new TreeItem(
    node.label,
    node.children === undefined || node.children.length === 0 ? None : node.isOpen ? Expanded : Collapsed,
  );
  item.id = node.id;
  if (node.description !== undefined) item.description = node.description;
  if (node.icon !== undefined)
    item.iconPath = new ThemeIcon(
      node.icon.id,
      node.icon.color === undefined ? undefined : new ThemeColor(node.icon.color),
    );
  const uri = node.file === undefined ? undefined : uriOf(node.file);
  if (uri !== undefined) {
    item.resourceUri = uri;
    if (node.icon === undefined) item.iconPath = ThemeIcon.File;
  }
  if (node.tooltip !== undefined) item.tooltip = plainMarkdown(...node.tooltip);
  if (node.context !== undefined) item.contextValue = node.context;
  if (node.command !== undefined)
    item.command = {
      command: node.command.id,
      title: node.command.title,
      arguments: [...node.command.arguments],
    };
  item.accessibilityInformation = {
    label: node.spoken ?? [node.label, node.description].filter(Boolean).join(", "),
  };
  return item;
}
