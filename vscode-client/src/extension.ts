import { existsSync } from "node:fs";
import { performance } from "node:perf_hooks";
import process from "node:process";
import { ExtensionMode, workspace, type ExtensionContext } from "vscode";
import { fileDecorations } from "./changes/file-decorations.ts";
import { gutter } from "./changes/gutter.ts";
import { changeFiles } from "./changes/provider.ts";
import { showChanges } from "./changes/show.ts";
import type { ClientContext, Feature } from "./feature.ts";
import { Connection, openLog } from "./kernel/connection.ts";
import type { Kernel } from "./kernel/kernel.ts";
import { LaresKernel } from "./kernel/lares-kernel.ts";
import { kernelLaunch, type Launch } from "./kernel/launch.ts";
import { languageModelTools } from "./language-model-tools.ts";
import { KernelActions } from "./model/actions.ts";
import { KernelAgents } from "./model/agents.ts";
import type { Models } from "./model/ports.ts";
import { PolledStatus } from "./model/status.ts";
import { starter } from "./starter/starter.ts";
import { traceChannels } from "./traces/channels.ts";
import { agentsView } from "./views/agents.ts";

/** The parts of the client, in the order in which they are made. */
const features: readonly Feature[] = [
  agentsView,
  changeFiles,
  showChanges,
  gutter,
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
    launch: () => launch(extension),
    sessionOptions: () => ({
      approvals: "client",
      ...(workspace.isTrusted ? {} : { trusted: false }),
    }),
    middleware: {},
    log,
    monotonic: () => performance.now(),
  });
  running = connection;
  const status = new PolledStatus(connection);
  const kernel = new LaresKernel(connection, status, () => workspace.isTrusted);
  const agents = new KernelAgents(kernel, status);
  const actions = new KernelActions(kernel, status);
  const models: Models = { agents, actions, status };
  extension.subscriptions.push(log, status, kernel, agents, actions);

  const context: ClientContext = { extension, kernel, models };
  for (const feature of features) extension.subscriptions.push(feature(context));
  connection.restart().catch((error: unknown) => log.error(String(error)));
  return { kernel, models, activationMs: performance.now() - begun };
}

export async function deactivate(): Promise<void> {
  await running?.close();
  running = null;
}

/** Only what the machine says counts: a workspace must not choose what is executed. */
function machineSetting(name: string): string {
  const value = workspace.getConfiguration("lares").inspect<unknown>(name)?.globalValue;
  return typeof value === "string" ? value.trim() : "";
}

function launch({ extensionPath, extensionMode }: ExtensionContext): Launch {
  return kernelLaunch({
    kernelPath: machineSetting("kernel.path"),
    nodePath: machineSetting("kernel.nodePath"),
    extensionPath,
    checkoutPath: extensionMode === ExtensionMode.Production ? null : `${extensionPath}/..`,
    platform: process.platform,
    own: { executable: process.execPath, nodeVersion: process.versions.node, pid: process.pid },
    environment: process.env,
    exists: existsSync,
  });
}
