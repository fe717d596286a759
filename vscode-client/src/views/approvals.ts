import { Disposable, window, workspace, type Uri } from "vscode";
import type { Feature } from "../feature.ts";
import { Drift } from "../model/drift.ts";
import { effectPaths } from "../model/effect-text.ts";
import { hashOfFile } from "../model/file-hash.ts";
import { count } from "../model/text.ts";
import { uriOf } from "../model/uris.ts";
import { approvalNodes } from "./approval-tree.ts";
import { NodeTree } from "./node-tree.ts";

/** Ages are said anew so often, while the view is seen. */
const renewMs = 30_000;

/** The Approvals view, with the count of what waits on its icon. */
export const approvalsView: Feature = ({ models }) => {
  const { actions, agents } = models;
  const drift = new Drift(() => actions.pending, hashOfFile);
  const tree = new NodeTree(() =>
    approvalNodes({
      pending: actions.pending,
      recent: actions.recent,
      nameOfAgent: (id) => agents.nameOf(id),
      driftOf: (action) => drift.pathOf(action),
      now: Date.now(),
    }),
  );
  const view = window.createTreeView("lares.approvals", { treeDataProvider: tree, showCollapseAll: true });
  // Nobody looks at what is hidden.
  const look = (): void => {
    if (view.visible && touched.size > 0) drift.lookSoon();
  };
  let touched: ReadonlySet<string> = new Set();
  const refresh = (): void => {
    const waiting = actions.pending.length;
    view.badge =
      waiting === 0 ? undefined : { value: waiting, tooltip: `${count(waiting, "action")} waiting for you` };
    tree.refresh();
    touched = new Set(
      actions.pending
        .flatMap(({ effects }) => effects.flatMap(effectPaths))
        .map((path) => String(uriOf(path))),
    );
    look();
  };
  const heardOf = (uri: Uri): void => {
    if (touched.has(uri.toString())) look();
  };
  const files = workspace.createFileSystemWatcher("**/*");
  refresh();
  const timer = setInterval(() => {
    if (view.visible) tree.refresh();
  }, renewMs);
  let names = "";
  return Disposable.from(
    tree,
    view,
    drift,
    files,
    files.onDidCreate(heardOf),
    files.onDidChange(heardOf),
    files.onDidDelete(heardOf),
    drift.onDidChange(() => tree.refresh()),
    view.onDidChangeVisibility(look),
    actions.onDidChange(refresh),
    agents.onDidChange(() => {
      const now = agents.all.map(({ name }) => name).join("\n");
      if (now !== names) tree.refresh();
      names = now;
    }),
    { dispose: () => clearInterval(timer) },
  );
};
