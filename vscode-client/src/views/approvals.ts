import { Disposable, window } from "vscode";
import type { Feature } from "../feature.ts";
import { count } from "../model/text.ts";
import { approvalNodes } from "./approval-tree.ts";
import { NodeTree } from "./node-tree.ts";

/** How often ages are updated while the view is visible. */
const renewMs = 30_000;

/** The Approvals view, with the number of waiting actions on its icon. */
export const approvalsView: Feature = ({ models }) => {
  const { actions, agents, asks } = models;
  const tree = new NodeTree(() =>
    approvalNodes({
      pending: actions.pending,
      recent: actions.recent,
      asks: asks.pending,
      nameOfAgent: (id) => agents.nameOf(id),
      now: Date.now(),
    }),
  );
  const view = window.createTreeView("lares.approvals", { treeDataProvider: tree, showCollapseAll: true });
  const refresh = (): void => {
    const [changes, questions] = [actions.pending.length, asks.pending.length];
    const waiting = [
      ...(changes === 0 ? [] : [count(changes, "change")]),
      ...(questions === 0 ? [] : [count(questions, "question")]),
    ];
    view.badge =
      waiting.length === 0
        ? undefined
        : { value: changes + questions, tooltip: `${waiting.join(" and ")} waiting for you` };
    tree.refresh();
  };
  refresh();
  const timer = setInterval(() => {
    if (view.visible) tree.refresh();
  }, renewMs);
  let names = "";
  return Disposable.from(
    tree,
    view,
    actions.onDidChange(refresh),
    asks.onDidChange(refresh),
    agents.onDidChange(() => {
      const now = agents.all.map(({ name }) => name).join("\n");
      if (now !== names) tree.refresh();
      names = now;
    }),
    { dispose: () => clearInterval(timer) },
  );
};
