import { commands, Disposable, workspace } from "vscode";
import type { ClientContext } from "../feature.ts";
import { trustQuestion } from "../model/trust-question.ts";
import type { Action } from "../protocol.ts";
import { documentIn, documentNames } from "./place.ts";

/** The contexts that complete the walkthrough's steps. Each follows from the actual state, never from a click. */
export const progressContexts = {
  hasDocument: "lares.hasDocument",
  isAllowed: "lares.isAllowed",
  hasApproved: "lares.hasApprovedChange",
  hasUndone: "lares.hasUndoneChange",
} as const;

type Context = (typeof progressContexts)[keyof typeof progressContexts];

/** Contexts that stay true, in every window, once a person has done the step. */
const lasting: readonly {
  readonly context: Context;
  readonly isDone: (action: Action) => boolean;
}[] = [
  {
    context: progressContexts.hasApproved,
    isDone: ({ decided_by, receipt }) => decided_by === "user" && receipt !== undefined,
  },
  { context: progressContexts.hasUndone, isDone: ({ state }) => state === "Undone" },
];

/** Maintains the contexts for the person's progress. */
export function progress({ extension, kernel, models }: ClientContext): Disposable {
  const known = new Map<Context, boolean>();
  const set = (context: Context, value: boolean): void => {
    if (known.get(context) === value) return;
    known.set(context, value);
    void commands.executeCommand("setContext", context, value);
  };
  let hasDocument = false;
  const lookAtStatus = (): void => {
    const { current } = models.status;
    const isAllowed = current !== undefined && current.trusted && trustQuestion(current) === null;
    set(progressContexts.isAllowed, hasDocument && kernel.state.kind === "running" && isAllowed);
  };
  const lookAtDocuments = async (): Promise<void> => {
    const found = await Promise.all((workspace.workspaceFolders ?? []).map(({ uri }) => documentIn(uri)));
    hasDocument = found.some((document) => document !== undefined);
    set(progressContexts.hasDocument, hasDocument);
    lookAtStatus();
  };
  const lookAtActions = (): void => {
    for (const { context, isDone } of lasting) {
      const wasDone = extension.globalState.get<boolean>(context) === true;
      if (!wasDone && !models.actions.recent.some(isDone)) continue;
      set(context, true);
      if (!wasDone) void extension.globalState.update(context, true);
    }
  };
  const watcher = workspace.createFileSystemWatcher(`**/{${documentNames.join(",")}}`, false, true, false);
  const documentsChanged = (): void => void lookAtDocuments();
  documentsChanged();
  lookAtActions();
  return Disposable.from(
    watcher,
    watcher.onDidCreate(documentsChanged),
    watcher.onDidDelete(documentsChanged),
    workspace.onDidChangeWorkspaceFolders(documentsChanged),
    models.status.onDidChange(lookAtStatus),
    kernel.onDidChangeState(lookAtStatus),
    models.actions.onDidChange(lookAtActions),
  );
}
