import { commands, Disposable, window } from "vscode";
import type { ClientContext, Feature } from "../feature.ts";
import { label, message } from "../model/text.ts";
import type { Agent, AgentCommand, AgentState } from "../protocol.ts";
import { agentArgument } from "./arguments.ts";
import { reporting } from "./explain.ts";
import { openManifest } from "./open-manifest.ts";

type IsOffered = (agent: Agent) => boolean;

const toAll: IsOffered = () => true;
const toEnabled =
  (...states: readonly AgentState[]): IsOffered =>
  ({ disabled, state }) =>
    disabled !== true && (states.length === 0 || states.includes(state));

/** Title in the editor, and to which agents it is offered where none is named. */
const controls: Readonly<Record<AgentCommand, { id: string; title: string; isOffered: IsOffered }>> = {
  reload: { id: "lares.agentReload", title: "Reload Agent", isOffered: toEnabled() },
  suspend: { id: "lares.agentSuspend", title: "Suspend Agent", isOffered: toEnabled("Active", "Unloaded") },
  resume: { id: "lares.agentResume", title: "Resume Agent", isOffered: toEnabled("Suspended") },
  enable: { id: "lares.agentEnable", title: "Enable Agent", isOffered: ({ disabled }) => disabled === true },
  disable: { id: "lares.agentDisable", title: "Disable Agent", isOffered: toEnabled() },
};

/** A person's commands to an agent. */
export const agentCommands: Feature = (context) =>
  Disposable.from(
    ...Object.entries(controls).map(([command, { id, title, isOffered }]) =>
      commands.registerCommand(id, (given?: unknown) =>
        reporting(title, async () => {
          const agent = agentArgument(given) ?? (await pickAgent(context, title, isOffered));
          if (agent === undefined) return;
          await control(context, agent, command as AgentCommand);
        }),
      ),
    ),
    commands.registerCommand("lares.agentOpenManifest", (given?: unknown) =>
      reporting("The manifest cannot be opened", async () => {
        const agent = agentArgument(given) ?? (await pickAgent(context, "Open Manifest", toAll));
        if (agent !== undefined) await openManifest(agent);
      }),
    ),
    commands.registerCommand("lares.agentShowMemory", (given?: unknown) =>
      commands.executeCommand("lares.showMemory", agentArgument(given)),
    ),
  );

/** As the code lenses of the kernel call it: `[{ id, command }]`. */
export function isAgentCommand(value: unknown): value is AgentCommand {
  return typeof value === "string" && Object.hasOwn(controls, value);
}

/** The command of this client for one of the kernel's. */
export function idOfControl(command: AgentCommand): string {
  return controls[command].id;
}

async function control({ kernel }: ClientContext, id: string, command: AgentCommand): Promise<void> {
  const agent = await window.withProgress({ location: { viewId: "lares.agents" } }, () =>
    kernel.request("lares/agents/control", { id, command }),
  );
  if (agent.state === "Error")
    void window.showErrorMessage(`${message(agent.name, 80)} stopped: ${message(agent.error ?? "")}`);
}

async function pickAgent(
  { models }: ClientContext,
  title: string,
  isOffered: IsOffered,
): Promise<string | undefined> {
  const items = models.agents.all
    .filter(isOffered)
    .map(({ id, name, state }) => ({ label: label(name), description: label(id), detail: state, id }));
  if (items.length === 0) {
    void window.showInformationMessage("There is no agent for this now.");
    return undefined;
  }
  return (await window.showQuickPick(items, { title, placeHolder: "Which agent?" }))?.id;
}
