import {
  commands,
  Disposable,
  QuickPickItemKind,
  StatusBarAlignment,
  ThemeColor,
  window,
  workspace,
  type QuickPickItem,
} from "vscode";
import type { ClientContext, Feature } from "./feature.ts";
import { count } from "./model/text.ts";
import { statusBarLook } from "./status-bar-item.ts";

/** Right of what the editor itself says of the workspace. */
const priority = 40;

/** The item in the status bar, and the list behind it. */
export const statusBar: Feature = (context) => {
  const { kernel, models } = context;
  const item = window.createStatusBarItem("lares.status", StatusBarAlignment.Left, priority);
  item.name = "Lares";
  const update = (): void => {
    const agents = models.agents.all;
    const look = statusBarLook({
      state: kernel.state,
      status: models.status.current,
      waiting: models.actions.pending.length,
      agents: agents.length,
      failing: agents.filter(({ state }) => state === "Error").length,
    });
    item.text = look.text;
    item.tooltip = look.tooltip;
    item.command = look.command;
    item.backgroundColor = look.background === undefined ? undefined : new ThemeColor(look.background);
    item.accessibilityInformation = { label: look.tooltip };
  };
  /** Without a folder there is no kernel to speak of. */
  const showOrHide = (): void => {
    if ((workspace.workspaceFolders ?? []).length > 0) item.show();
    else item.hide();
  };
  update();
  showOrHide();
  return Disposable.from(
    item,
    workspace.onDidChangeWorkspaceFolders(showOrHide),
    kernel.onDidChangeState(update),
    models.status.onDidChange(update),
    models.actions.onDidChange(update),
    models.agents.onDidChange(update),
    commands.registerCommand("lares.showStatus", () => showStatus(context)),
  );
};

interface Choice extends QuickPickItem {
  readonly command?: string;
}

async function showStatus({ kernel, models }: ClientContext): Promise<void> {
  const status = models.status.current;
  const look = statusBarLook({
    state: kernel.state,
    status,
    waiting: models.actions.pending.length,
    agents: models.agents.all.length,
    failing: models.agents.all.filter(({ state }) => state === "Error").length,
  });
  const restart: Choice = {
    label: "$(debug-restart) Restart Kernel",
    description: status === undefined ? "" : `version ${status.version}, process ${status.pid}`,
    command: "lares.restartKernel",
  };
  const isInNeed = kernel.state.kind === "silent" || kernel.state.kind === "failed";
  const choices: Choice[] = [
    ...(isInNeed ? [restart] : []),
    {
      label: "$(bell) Approvals",
      // What is kept from before is not told where nothing is trusted: how many there are is not known.
      description:
        kernel.state.kind === "untrusted"
          ? ""
          : count(models.actions.pending.length, "action waiting", "actions waiting"),
      command: "lares.approvals.focus",
    },
    {
      label: "$(organization) Agents",
      description: count(models.agents.all.length, "agent"),
      command: "lares.agents.focus",
    },
    { label: "$(graph) Activity", command: "lares.showActivity" },
    { label: "$(database) Memory", command: "lares.showMemory" },
    { label: "$(list-flat) Traces", command: "lares.showTraces" },
    { label: "", kind: QuickPickItemKind.Separator },
    {
      label: "$(shield) Review What This Workspace Asks For…",
      description:
        status === undefined ? "" : status.trust.pending.length > 0 ? "asks for more than you allowed" : "",
      command: "lares.trustWorkspace",
    },
    { label: "$(law) Open Remembered Decisions", command: "lares.openDecisions" },
    { label: "$(output) Show Kernel Log", command: "lares.showKernelLog" },
    ...(isInNeed ? [] : [restart]),
  ];
  const chosen = await window.showQuickPick(choices, {
    title: "Lares",
    placeHolder: look.tooltip.replaceAll("\n", " · "),
  });
  if (chosen?.command !== undefined) await commands.executeCommand(chosen.command);
}
