import { Disposable, window } from "vscode";
import type { Feature } from "../feature.ts";
import { agentNodes } from "./agent-tree.ts";
import { NodeTree } from "./node-tree.ts";

/** Ages and next runs are said anew so often, while the view is seen. */
const renewMs = 30_000;

/** The Agents view. */
export const agentsView: Feature = ({ models }) => {
  const tree = new NodeTree(() => agentNodes(models.agents.all, Date.now()));
  const view = window.createTreeView("lares.agents", { treeDataProvider: tree, showCollapseAll: true });
  const refresh = (): void => {
    tree.refresh();
  };
  const timer = setInterval(() => {
    if (view.visible) refresh();
  }, renewMs);
  return Disposable.from(tree, view, models.agents.onDidChange(refresh), {
    dispose: () => clearInterval(timer),
  });
};
