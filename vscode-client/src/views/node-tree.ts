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
import { plainMarkdown } from "../editor/plain-markdown.ts";
import type { TreeNode } from "./tree-node.ts";

/**
 * Shows the items that a function builds from the models. Only the items that changed are reported to the editor,
 * because redrawing an item cancels a mouse press on its buttons.
 */
export class NodeTree implements TreeDataProvider<TreeNode>, Disposable {
  readonly #build: () => readonly TreeNode[];
  readonly #changed = new EventEmitter<TreeNode[] | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  #roots: readonly TreeNode[] | null = null;
  readonly #parents = new Map<string, TreeNode>();

  constructor(build: () => readonly TreeNode[]) {
    this.#build = build;
  }

  refresh(): void {
    // The editor has not asked yet, so nothing that it knows can have changed.
    if (this.#roots === null) return this.#changed.fire(undefined);
    const built = this.#build();
    if (!areAlike(this.#roots, built)) {
      this.#show(built);
      return this.#changed.fire(undefined);
    }
    const changed = this.#roots.flatMap((root, index) => renew(root, built[index] ?? root));
    if (changed.length === 0) return;
    this.#show(this.#roots);
    this.#changed.fire(changed);
  }

  get roots(): readonly TreeNode[] {
    return this.#roots ?? this.#show(this.#build());
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

  #show(roots: readonly TreeNode[]): readonly TreeNode[] {
    this.#roots = roots;
    this.#parents.clear();
    for (const root of roots) this.#adopt(root);
    return roots;
  }

  #adopt(parent: TreeNode): void {
    for (const child of parent.children ?? []) {
      this.#parents.set(child.id, parent);
      this.#adopt(child);
    }
  }
}

/**
 * Returns true if these items stand for the same things in the same order. An item whose command changed counts as
 * different: a press must do what was shown.
 */
function areAlike(before: readonly TreeNode[], after: readonly TreeNode[]): boolean {
  return (
    before.length === after.length &&
    before.every((node, index) => meaningOf(node) === meaningOf(after[index]))
  );
}

function meaningOf(node: TreeNode | undefined): string {
  return JSON.stringify([
    node?.id,
    node?.agent,
    node?.tool,
    node?.action,
    node?.job,
    node?.package,
    node?.command,
  ]);
}

/**
 * Updates `node`, which the editor holds, to the contents of `next`. Returns what has to be redrawn: the node itself,
 * or what changed below it.
 */
function renew(node: TreeNode, next: TreeNode): TreeNode[] {
  const { children = [], ...own } = node;
  const { children: nextChildren = [], ...nextOwn } = next;
  const isSame = JSON.stringify(own) === JSON.stringify(nextOwn);
  const areChildrenAlike = areAlike(children, nextChildren);
  const below = areChildrenAlike
    ? children.flatMap((child, index) => renew(child, nextChildren[index] ?? child))
    : [];
  if (isSame && areChildrenAlike) return below;
  for (const name of Object.keys(own)) if (!(name in nextOwn)) Reflect.deleteProperty(node, name);
  Object.assign(node, nextOwn, areChildrenAlike ? {} : { children: nextChildren });
  return [node];
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
