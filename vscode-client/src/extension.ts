import { existsSync } from "node:fs";
import { performance } from "node:perf_hooks";
import process from "node:process";
import { ExtensionMode, workspace, type ExtensionContext } from "vscode";
import { approvalLenses } from "./changes/lenses.ts";
import { fileDecorations } from "./changes/file-decorations.ts";
import { editing } from "./changes/edit.ts";
import { gutter } from "./changes/gutter.ts";
import { inlinePreview } from "./changes/inline.ts";
import { changeFiles } from "./changes/provider.ts";
import { showChanges } from "./changes/show.ts";
import { agentCommands } from "./commands/agents.ts";
import { approvalCommands } from "./commands/approvals.ts";
import { decisionCommands } from "./commands/decisions.ts";
import { jobCommands } from "./commands/jobs.ts";
import { proposalCommands } from "./commands/proposals.ts";
import { kernelCommands } from "./commands/kernel.ts";
import type { ClientContext, Feature } from "./feature.ts";
import { Connection, openLog } from "./kernel/connection.ts";
import { endKernel, stopArguments } from "./kernel/end-kernel.ts";
import type { Kernel } from "./kernel/kernel.ts";
import { LaresKernel } from "./kernel/lares-kernel.ts";
import { kernelLaunch, type Launch } from "./kernel/launch.ts";
import { languageModelTools } from "./language-model-tools.ts";
import { middleware } from "./middleware.ts";
import { KernelActions } from "./model/actions.ts";
import { KernelAgents } from "./model/agents.ts";
import { KernelJobs } from "./model/jobs.ts";
import type { Models } from "./model/ports.ts";
import { Reminders } from "./model/reminders.ts";
import { PolledStatus } from "./model/status.ts";
import { starter } from "./starter/starter.ts";
import { traceChannels } from "./traces/channels.ts";
import { notifications } from "./notifications.ts";
import { reminders as reminderMessages } from "./reminders.ts";
import { statusBar } from "./status-bar.ts";
import { trust } from "./trust.ts";
import { activity } from "./views/activity.ts";
import { agentsView } from "./views/agents.ts";
import { approvalsView } from "./views/approvals.ts";
import { memory } from "./views/memory.ts";
import { review } from "./views/review.ts";
import { toolForms } from "./views/tool-form.ts";
import { traces } from "./views/traces.ts";

/** The parts of the client that need nothing but its context, in the order in which they are made. */
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
  proposalCommands,
  notifications,
  reminderMessages,
  activity,
  memory,
  traces,
  toolForms,
  changeFiles,
  showChanges,
  editing,
  approvalLenses,
  gutter,
  inlinePreview,
  fileDecorations,
  traceChannels,
  languageModelTools,
  starter,
];

/** What `activate` gives to tests and to other extensions that know this one. */
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
      ...(workspace.isTrusted ? {} : { trusted: false }),
    }),
    client: async (parts) => (await import("./kernel/language-client.ts")).languageClient(parts),
    middleware,
    log,
    monotonic: () => performance.now(),
  });
  running = connection;
  try {
    return { ...makeParts(extension, connection, log), activationMs: performance.now() - begun };
  } catch (error) {
    // The editor does not deactivate what it could not activate.
    void deactivate();
    throw error;
  }
}

function makeParts(
  extension: ExtensionContext,
  connection: Connection,
  log: ReturnType<typeof openLog>,
): Pick<LaresApi, "kernel" | "models"> {
  // Before all else: its start takes longest, and what is made below is made while it goes on.
  if (localFolders().length > 0) connection.start();
  const status = new PolledStatus(connection);
  const kernel = new LaresKernel(connection, status, () => workspace.isTrusted);
  const agents = new KernelAgents(kernel, status);
  const actions = new KernelActions(kernel, status);
  const jobs = new KernelJobs(kernel, agents);
  const reminders = new Reminders(actions, (id) => agents.nameOf(id), {
    now: () => Date.now(),
    afterMinutes: () => workspace.getConfiguration("lares").get("approvals.remindAfterMinutes", 10),
  });
  const models: Models = { agents, actions, jobs, status, reminders };
  extension.subscriptions.push(log, status, kernel, agents, actions, jobs, reminders);

  const context: ClientContext = { extension, kernel, models };
  const restart = (): Promise<void> =>
    connection.restart(async () => {
      log.info(await endKernel(launch(extension, stopArguments(localFolders()))));
    });
  for (const feature of [...features, kernelCommands({ restart, log })])
    extension.subscriptions.push(feature(context));

  const startAnew = (): void => {
    if (localFolders().length === 0) return;
    connection.restart().catch((error: unknown) => log.error(String(error)));
  };
  // Another session: the kernel is told at its beginning whether it is trusted, and of which folders.
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

/** Agents watch folders of the machine this runs on; without one there is nothing to start. */
function localFolders(): string[] {
  return (workspace.workspaceFolders ?? []).flatMap(({ uri }) => (uri.scheme === "file" ? [uri.fsPath] : []));
}

/** Only what the machine says counts: a workspace must not choose what is executed. */
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
