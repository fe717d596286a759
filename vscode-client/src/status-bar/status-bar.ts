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
import type { ClientContext, Feature } from "../feature.ts";
import { healthOf, isFailing } from "../model/agent-health.ts";
import { count } from "../model/text.ts";
import { statusBarLook, type StatusBarFacts } from "./status-bar-item.ts";

/** To the right of the editor's own items about the workspace. */
const priority = 40;

/** The item in the status bar, and the list that it opens. */
export const statusBar: Feature = (context) => {
  const { kernel, models } = context;
  const item = window.createStatusBarItem("lares.status", StatusBarAlignment.Left, priority);
  item.name = "Lares";
  const update = (): void => {
    const look = statusBarLook(factsOf(context));
    item.text = look.text;
    item.tooltip = look.tooltip;
    item.command = { command: look.command, title: "Lares", arguments: [...(look.arguments ?? [])] };
    item.backgroundColor = look.background === undefined ? undefined : new ThemeColor(look.background);
    item.accessibilityInformation = { label: look.tooltip };
  };
  /** Without a folder there is no kernel. */
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
    models.asks.onDidChange(update),
    models.agents.onDidChange(update),
    models.jobs.onDidChange(update),
    commands.registerCommand("lares.showStatus", () => showStatus(context)),
  );
};

interface Choice extends QuickPickItem {
  readonly command?: string;
}

function factsOf({ kernel, models }: ClientContext): StatusBarFacts {
  const known = models.agents.all.map((agent) => ({
    id: agent.id,
    name: models.agents.nameOf(agent.id),
    health: healthOf(agent, models.jobs.of(agent.id).items, Date.now()),
  }));
  return {
    state: kernel.state,
    status: models.status.current,
    waiting: models.actions.pending.length,
    questions: models.asks.pending.length,
    agents: known.length,
    failing: known.filter(({ health }) => isFailing(health)),
    working: known.filter(({ health }) => health.kind === "working"),
  };
}

async function showStatus(context: ClientContext): Promise<void> {
  const { kernel, models } = context;
  const status = models.status.current;
  const facts = factsOf(context);
  const look = statusBarLook(facts);
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
      // Cached counts are not shown while nothing is trusted, because the actual number is unknown.
      description:
        kernel.state.kind === "untrusted"
          ? ""
          : count(models.actions.pending.length, "change waits for you", "changes wait for you"),
      command: "lares.approvals.focus",
    },
    ...(facts.questions === 0
      ? []
      : [
          {
            label: "$(question) Questions of Agents",
            description: count(facts.questions, "waits for you", "wait for you"),
            command: "lares.openAsks",
          },
        ]),
    {
      label: "$(organization) Agents",
      description: [
        count(facts.agents, "agent"),
        ...(facts.failing.length === 0 ? [] : [count(facts.failing.length, "fails", "fail")]),
      ].join(", "),
      command: "lares.agents.focus",
    },
    { label: "$(graph) Activity", command: "lares.showActivity" },
    { label: "$(database) Memory", command: "lares.showMemory" },
    { label: "$(pulse) Language Models", command: "lares.showUsage" },
    { label: "$(list-flat) Traces", command: "lares.showTraces" },
    { label: "", kind: QuickPickItemKind.Separator },
    {
      label: "$(shield) Choose What Agents May Do…",
      description:
        status === undefined
          ? ""
          : status.trust.pending.length > 0
            ? "they ask for more than you allowed"
            : "",
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
