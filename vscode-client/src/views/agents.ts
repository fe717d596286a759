import { Disposable, window } from "vscode";
import type { Feature } from "../feature.ts";
import { trustQuestion } from "../model/trust-question.ts";
import { agentNodes, noticeNodes } from "./agent-tree.ts";
import { NodeTree } from "./node-tree.ts";

/** How often ages and next runs are updated while the view is visible. */
const renewMs = 30_000;

/** The Agents view. */
export const agentsView: Feature = ({ models, kernel }) => {
  const tree = new NodeTree(() => {
    const agents = agentNodes(models.agents.all, (agent) => models.jobs.of(agent), Date.now());
    // An empty view has its own welcome content for each of these states.
    if (agents.length === 0) return [];
    return [...noticeNodes(kernel.state, trustQuestion(models.status.current) !== null), ...agents];
  });
  const view = window.createTreeView("lares.agents", { treeDataProvider: tree, showCollapseAll: true });
  const refresh = (): void => {
    tree.refresh();
  };
  const timer = setInterval(() => {
    if (view.visible) refresh();
  }, renewMs);
  models.jobs.watch(view.visible);
  let isAsking = false;
  return Disposable.from(
    tree,
    view,
    models.agents.onDidChange(refresh),
    models.jobs.onDidChange(refresh),
    view.onDidChangeVisibility(({ visible }) => models.jobs.watch(visible)),
    kernel.onDidChangeState(refresh),
    models.status.onDidChange(() => {
      const asks = trustQuestion(models.status.current) !== null;
      if (asks !== isAsking) refresh();
      isAsking = asks;
    }),
    { dispose: () => clearInterval(timer) },
  );
};
