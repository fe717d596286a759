import { expect, it } from "vitest";
import { MarkdownString, seen, Uri, workspace } from "../testing/vscode.ts";
import { NodeTree, treeItem } from "./node-tree.ts";
import type { TreeNode } from "./tree-node.ts";

const node: TreeNode = { id: "a", label: "Label", children: [{ id: "b", label: "Child" }] };

it("gives the editor the nodes as they were built last, and their parents", () => {
  let built = 0;
  const tree = new NodeTree(() => {
    built++;
    return [node];
  });
  const [root] = tree.getChildren();
  const [child] = tree.getChildren(root);
  expect(child === undefined ? child : tree.getParent(child)).toBe(node);
  tree.getChildren();
  expect(built).toBe(1);
  tree.refresh();
  tree.getChildren();
  expect(built).toBe(2);
});

it("the editor hears of a change, and not of an empty tree that stays empty", () => {
  let nodes: TreeNode[] = [];
  let heard = 0;
  const tree = new NodeTree(() => nodes);
  tree.onDidChangeTreeData(() => heard++);
  const refreshed = (to: TreeNode[]): number => {
    nodes = to;
    tree.refresh();
    return heard;
  };
  expect(tree.getChildren()).toEqual([]);
  expect(refreshed([])).toBe(0);
  expect(refreshed([node])).toBe(1);
  expect(tree.getChildren()).toEqual([node]);
  expect(refreshed([node])).toBe(2);
  expect(refreshed([])).toBe(3);
});

it("a tooltip is text, whatever is in it", () => {
  const { tooltip } = treeItem({ ...node, tooltip: ["[run](command:evil) <b>$(zap)</b>", "two"] });
  if (!(tooltip instanceof MarkdownString)) throw new Error("The tooltip is no MarkdownString.");
  expect(tooltip.value).not.toContain("](command");
  expect(tooltip.value).toContain("\n\ntwo");
  expect([tooltip.isTrusted, tooltip.supportHtml, tooltip.supportThemeIcons]).toEqual([false, false, false]);
});

it("an item of a file has its address, for the icon and decorations of it", () => {
  seen.forget();
  workspace.workspaceFolders = [{ uri: Uri.file("/w"), name: "w", index: 0 }];
  expect(treeItem({ ...node, file: "notes/a.md" }).resourceUri?.fsPath).toBe("/w/notes/a.md");
});

it("a screen reader is told what is meant for it, else label and description", () => {
  const spoken = (given: Partial<TreeNode>): string | undefined =>
    treeItem({ ...node, ...given }).accessibilityInformation?.label;
  expect(spoken({ description: "more" })).toBe("Label, more");
  expect(spoken({ spoken: "In words" })).toBe("In words");
});
