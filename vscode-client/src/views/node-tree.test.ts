import { expect, it } from "vitest";
import { MarkdownString, seen, Uri, workspace } from "../testing/vscode.ts";
import { NodeTree, treeItem } from "./node-tree.ts";
import type { TreeNode } from "./tree-node.ts";

const node: TreeNode = { id: "a", label: "Label", children: [{ id: "b", label: "Child" }] };

/** A tree that the editor has asked for, with what it was told since; `undefined` is all of it. */
function shown(first: TreeNode[]) {
  let nodes = first;
  const heard: (string[] | undefined)[] = [];
  const tree = new NodeTree(() => structuredClone(nodes));
  tree.onDidChangeTreeData((changed) => heard.push(changed?.map(({ id }) => id)));
  const items = (of?: TreeNode): TreeNode[] => tree.getChildren(of).flatMap((one) => [one, ...items(one)]);
  return {
    tree,
    heard,
    items,
    become: (to: TreeNode[]): (string[] | undefined)[] => {
      items();
      nodes = to;
      heard.length = 0;
      tree.refresh();
      return heard;
    },
  };
}

const agent = (id: string, change: Partial<TreeNode> = {}): TreeNode => ({
  id,
  label: id,
  children: [
    { id: `${id} hook`, label: "hook", description: "next in 5 minutes" },
    { id: `${id} jobs`, label: "Jobs", children: [{ id: `${id} job`, label: "job", description: "1 %" }] },
  ],
  ...change,
});

it("gives the editor the latest nodes, and their parents", () => {
  const { tree, items, become } = shown([node]);
  const parents = (): (string | undefined)[] => items().map((one) => tree.getParent(one)?.id);
  expect(parents()).toEqual([undefined, "a"]);
  become([{ ...node, children: [{ id: "c", label: "C", children: [{ id: "d", label: "D" }] }] }]);
  expect(items().map(({ id }) => id)).toEqual(["a", "c", "d"]);
  expect(parents()).toEqual([undefined, "a", "c"]);
});

it("is built at the editor's first request, and before that only reports that there may be changes", () => {
  let built = 0;
  const tree = new NodeTree(() => {
    built++;
    return [node];
  });
  let heard = 0;
  tree.onDidChangeTreeData(() => heard++);
  tree.refresh();
  expect({ built, heard }).toEqual({ built: 0, heard: 1 });
  tree.getChildren();
  tree.getChildren();
  expect(built).toBe(1);
});

it("reports nothing if nothing changed, also for an empty tree", () => {
  expect(shown([]).become([])).toEqual([]);
  expect(shown([agent("x"), agent("y")]).become([agent("x"), agent("y")])).toEqual([]);
});

it("reports the changed items, and for items within a redrawn one only that one", () => {
  const running = agent("x", {
    children: [
      { id: "x hook", label: "hook", description: "next in 5 minutes" },
      { id: "x jobs", label: "Jobs", children: [{ id: "x job", label: "job", description: "2 %" }] },
    ],
  });
  const before = [agent("x"), agent("y")];
  expect(shown(before).become([running, agent("y")])).toEqual([["x job"]]);
  expect(shown(before).become([running, agent("y", { description: "busy" })])).toEqual([["x job", "y"]]);
  expect(shown(before).become([{ ...running, description: "busy" }, agent("y")])).toEqual([["x"]]);
  expect(shown(before).become([agent("x", { children: [] }), agent("y")])).toEqual([["x"]]);
});

it("reports the whole tree if the top items changed", () => {
  const before = [agent("x"), agent("y")];
  expect(shown(before).become([agent("y"), agent("x")])).toEqual([undefined]);
  expect(shown(before).become([agent("x")])).toEqual([undefined]);
  expect(shown([]).become(before)).toEqual([undefined]);
});

it("an item stays the same object for the editor, with its current contents", () => {
  const { items, become } = shown([agent("x", { description: "busy", tooltip: ["one"] })]);
  const before = items();
  become([agent("x", { description: "idle" })]);
  const after = items();
  expect(after.map((one, index) => one === before[index])).toEqual(after.map(() => true));
  expect(after[0]).toEqual(agent("x", { description: "idle" }));
});

it("an item whose button would do something else is a new item, redrawn with its siblings", () => {
  const action = (digest: string): TreeNode => ({
    id: "agent",
    label: "agent",
    children: [{ id: "action", label: "Rename", action: { id: "1", digest } }],
  });
  const { items, become } = shown([action("first")]);
  const [, before] = items();
  expect(become([action("second")])).toEqual([["agent"]]);
  // A press on an item that was not redrawn yet concerns what was shown then.
  expect(before?.action?.digest).toBe("first");
  expect(items()[1]?.action?.digest).toBe("second");
});

it("a tooltip is plain text, whatever it contains", () => {
  const { tooltip } = treeItem({ ...node, tooltip: ["[run](command:evil) <b>$(zap)</b>", "two"] });
  if (!(tooltip instanceof MarkdownString)) throw new Error("The tooltip is no MarkdownString.");
  expect(tooltip.value).not.toContain("](command");
  expect(tooltip.value).toContain("\n\ntwo");
  expect([tooltip.isTrusted, tooltip.supportHtml, tooltip.supportThemeIcons]).toEqual([false, false, false]);
});

it("an item of a file has its address, for its icon and decorations", () => {
  seen.forget();
  workspace.workspaceFolders = [{ uri: Uri.file("/w"), name: "w", index: 0 }];
  expect(treeItem({ ...node, file: "notes/a.md" }).resourceUri?.fsPath).toBe("/w/notes/a.md");
});

it("a screen reader gets the text meant for it, else label and description", () => {
  const spoken = (given: Partial<TreeNode>): string | undefined =>
    treeItem({ ...node, ...given }).accessibilityInformation?.label;
  expect(spoken({ description: "more" })).toBe("Label, more");
  expect(spoken({ spoken: "In words" })).toBe("In words");
});
