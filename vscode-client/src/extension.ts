import { existsSync } from "node:fs";
import { performance } from "node:perf_hooks";
import process from "node:process";
import { ExtensionMode, workspace, type ExtensionContext } from "vscode";
import { approvalLenses } from "./changes/lenses.ts";
import { fileDecorations } from "./changes/file-decorations.ts";
import { gutter } from "./changes/gutter.ts";
import { inlinePreview } from "./changes/inline.ts";
import { changeDocuments } from "./changes/provider.ts";
import { showChanges } from "./changes/show.ts";
import { agentCommands } from "./commands/agents.ts";
import { approvalCommands } from "./commands/approvals.ts";
import { decisionCommands } from "./commands/decisions.ts";
import { jobCommands } from "./commands/jobs.ts";
import { modelCommands } from "./commands/models.ts";
import { offeredCommands } from "./commands/offered.ts";
import { proposalCommands } from "./commands/proposals.ts";
import { kernelCommands } from "./commands/kernel.ts";
import { chatParticipant } from "./conversations/chat-participant.ts";
import { conversations } from "./conversations/conversations.ts";
import type { ClientContext, Feature } from "./feature.ts";
import { Connection, openLog } from "./kernel/connection.ts";
import { endKernel, stopArguments } from "./kernel/end-kernel.ts";
import type { Kernel } from "./kernel/kernel.ts";
import { LaresKernel } from "./kernel/lares-kernel.ts";
import { runCommand } from "./kernel/run-command.ts";
import { kernelLaunch, type Launch } from "./kernel/launch.ts";
import { languageModelTools } from "./editor/language-model-tools.ts";
import { editorModels } from "./editor/language-models.ts";
import { middleware } from "./editor/middleware.ts";
import { KernelActions } from "./model/actions.ts";
import { KernelAgents } from "./model/agents.ts";
import { KernelAsks } from "./model/asks.ts";
import { KernelJobs } from "./model/jobs.ts";
import type { Models } from "./model/ports.ts";
import { Reminders } from "./model/reminders.ts";
import { PolledStatus } from "./kernel/polled-status.ts";
import { packagesView } from "./packages/packages-view.ts";
import { starter } from "./starter/starter.ts";
import { traceChannels } from "./traces/channels.ts";
import { asks as askNotices } from "./notices/asks.ts";
import { notifications } from "./notices/notifications.ts";
import { reminders as reminderMessages } from "./notices/reminders.ts";
import { suspendedSchedules } from "./notices/suspended-schedules.ts";
import { remembered } from "./remembered/remembered.ts";
import { statusBar } from "./status-bar/status-bar.ts";
import { trust, waitingQuestion } from "./notices/trust.ts";
import { activity } from "./views/activity.ts";
import { agentsView } from "./views/agents.ts";
import { approvalsView } from "./views/approvals.ts";
import { memory } from "./views/memory.ts";
import { review } from "./views/review.ts";
import { toolForms } from "./views/tool-form.ts";
import { traces } from "./views/traces.ts";
import { tracesBeside } from "./views/traces-beside.ts";
import { usage } from "./views/usage.ts";

/** The parts of the client that need nothing but its context, in the order in which they are created. */
const features: readonly Feature[] = [
  statusBar,
  trust,
  agentsView,
  approvalsView,
  review,
  agentCommands,
  jobCommands,
  approvalCommands,
  decisionCommands,
  modelCommands,
  offeredCommands,
  proposalCommands,
  notifications,
  askNotices,
  reminderMessages,
  suspendedSchedules,
  activity,
  memory,
  traces,
  tracesBeside,
  toolForms,
  usage,
  conversations,
  remembered,
  chatParticipant,
  changeDocuments,
  showChanges,
  approvalLenses,
  gutter,
  inlinePreview,
  fileDecorations,
  traceChannels,
  languageModelTools,
  starter,
];

/** The API of `activate` for tests and for other extensions. */
export interface LaresApi {
  readonly kernel: Kernel;
  readonly models: Models;
  /** How long `activate` took, in milliseconds. */
  readonly activationMs: number;
}

let running: Connection | null = null;

export function activate(extension: ExtensionContext): LaresApi {
  const begun = performance.now();
  const log = openLog();
  const connection = new Connection({
    launch: () => launch(extension, ["serve", "--stdio", `--clientProcessId=${process.pid}`]),
    sessionOptions: () => ({
      approvals: "client",
      // The editor's API has no notifications of the operating system.
      notifications: ["editor"],
      ...(workspace.isTrusted ? {} : { trusted: false }),
    }),
    client: async (parts) => (await import("./kernel/language-client.ts")).languageClient(parts),
    middleware,
    models: editorModels,
    log,
    monotonic: () => performance.now(),
  });
  running = connection;
  try {
    return { ...makeParts(extension, connection, log), activationMs: performance.now() - begun };
  } catch (error) {
    // The editor does not deactivate an extension whose activation failed.
    void deactivate();
    throw error;
  }
}

function makeParts(
  extension: ExtensionContext,
  connection: Connection,
  log: ReturnType<typeof openLog>,
): Pick<LaresApi, "kernel" | "models"> {
  // Started first, because it takes longest; the rest is created meanwhile.
  if (localFolders().length > 0) connection.start();
  const status = new PolledStatus(connection);
  const kernel = new LaresKernel(connection, status, () => workspace.isTrusted);
  const agents = new KernelAgents(kernel, status);
  const actions = new KernelActions(kernel, status);
  const asks = new KernelAsks(kernel);
  const jobs = new KernelJobs(kernel, agents);
  const reminders = new Reminders(actions, (id) => agents.nameOf(id), {
    question: () => waitingQuestion(status.current, extension.workspaceState),
    onDidChangeQuestion: status.onDidChange,
    now: () => Date.now(),
    afterMinutes: () => workspace.getConfiguration("lares").get("approvals.remindAfterMinutes", 10),
  });
  const models: Models = { agents, actions, asks, jobs, status, reminders };
  extension.subscriptions.push(log, status, kernel, agents, actions, asks, jobs, reminders);

  const context: ClientContext = { extension, kernel, models };
  /** Ends the kernel, which outlives its front, and starts the next one after `between`. */
  const restart = (between?: () => Promise<void>): Promise<void> =>
    connection.restart(async () => {
      log.info(await endKernel(launch(extension, stopArguments(localFolders()))));
      await between?.();
    });
  const packages = packagesView({
    run: (words, folder, signal) => runCommand(launch(extension, words), folder, signal),
    withoutKernel: restart,
  });
  for (const feature of [...features, kernelCommands({ restart: () => restart(), log }), packages])
    extension.subscriptions.push(feature(context));

  const startAnew = (): void => {
    if (localFolders().length === 0) return;
    connection.restart().catch((error: unknown) => log.error(String(error)));
  };
  // Starts another session, because the kernel is told only at the start whether it is trusted, and for which folders.
  extension.subscriptions.push(
    workspace.onDidGrantWorkspaceTrust(startAnew),
    workspace.onDidChangeWorkspaceFolders(startAnew),
  );
  return { kernel, models };
}

export async function deactivate(): Promise<void> {
  await running?.close();
  running = null;
}

/** Agents watch folders of the local machine; without one there is nothing to start. */
function localFolders(): string[] {
  return (workspace.workspaceFolders ?? []).flatMap(({ uri }) => (uri.scheme === "file" ? [uri.fsPath] : []));
}

/** Reads only the machine's setting: a workspace must not choose what is executed. */
function machineSetting(name: string): string {
  const value = workspace.getConfiguration("lares").inspect<unknown>(name)?.globalValue;
  return typeof value === "string" ? value.trim() : "";
}

function launch({ extensionPath, extensionMode }: ExtensionContext, words: readonly string[]): Launch {
  const facts = {
    kernelPath: machineSetting("kernel.path"),
    nodePath: machineSetting("kernel.nodePath"),
    extensionPath,
    checkoutPath: extensionMode === ExtensionMode.Production ? null : `${extensionPath}/..`,
    platform: process.platform,
    own: { executable: process.execPath, nodeVersion: process.versions.node },
    environment: process.env,
    exists: existsSync,
  };
  return kernelLaunch(facts, words);
}
