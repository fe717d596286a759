import { commands, Disposable, Range, Uri, window } from "vscode";
import type { ClientContext, Feature } from "../feature.ts";
import { healthOf } from "../model/agent-health.ts";
import { label, message } from "../model/text.ts";
import type { Agent, AgentCommand, AgentState } from "../protocol.ts";
import { agentArgument } from "../deciding/arguments.ts";
import { reporting } from "../deciding/explain.ts";
import { openManifest } from "./open-manifest.ts";

type IsOffered = (agent: Agent) => boolean;

const toAll: IsOffered = () => true;
const toEnabled =
  (...states: readonly AgentState[]): IsOffered =>
  ({ disabled, state }) =>
    disabled !== true && (states.length === 0 || states.includes(state));

/** The title in the editor, and the agents that it is offered for if none is named. */
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
          await control(context, agent, command as AgentCommand, hookArgument(given));
        }),
      ),
    ),
    commands.registerCommand("lares.agentOpenManifest", (given?: unknown) =>
      reporting("The manifest cannot be opened", async () => {
        const agent = agentArgument(given) ?? (await pickAgent(context, "Open Manifest", toAll));
        if (agent !== undefined) await openManifest(agent);
      }),
    ),
    commands.registerCommand("lares.agentShowProblem", (given?: unknown) =>
      reporting("The problem cannot be shown", async () => {
        const agent = agentArgument(given) ?? (await pickAgent(context, "Show Problem", isTroubled));
        if (agent !== undefined) await showProblem(context, agent);
      }),
    ),
    commands.registerCommand("lares.agentShowProblems", (given?: unknown) =>
      reporting("The problems cannot be shown", async () => {
        const agent = agentArgument(given) ?? (await pickAgent(context, "Show All Problems", isTroubled));
        if (agent === undefined) return;
        await showProblem(context, agent);
        await commands.executeCommand("workbench.actions.view.problems");
      }),
    ),
    commands.registerCommand("lares.agentShowMemory", (given?: unknown) =>
      commands.executeCommand("lares.showMemory", agentArgument(given)),
    ),
  );

/** The arguments come from the kernel's code lenses: `[{ id, command }]`. */
export function isAgentCommand(value: unknown): value is AgentCommand {
  return typeof value === "string" && Object.hasOwn(controls, value);
}

/** Returns the command of this client for one of the kernel's. */
export function idOfControl(command: AgentCommand): string {
  return controls[command].id;
}

const isTroubled: IsOffered = (agent) => healthOf(agent, [], Date.now()).problem !== undefined;

/** Opens the faulty line; if none is known, the manifest, otherwise the agent's log. */
async function showProblem({ models }: ClientContext, id: string): Promise<void> {
  const agent = models.agents.get(id);
  const health = agent === undefined ? undefined : healthOf(agent, [], Date.now());
  const place = health?.problem?.place;
  if (place !== undefined) {
    const line = place.line - 1;
    await window.showTextDocument(Uri.file(place.path), { selection: new Range(line, 0, line, 0) });
    return;
  }
  if (health?.kind === "manifest") await openManifest(id);
  else await commands.executeCommand("lares.agentShowTraces", { id });
}

/** The kernel's code lens of a suspended schedule names it by its place. */
function hookArgument(given: unknown): number | undefined {
  const hook = typeof given === "object" && given !== null && "hook" in given ? given.hook : undefined;
  return typeof hook === "number" ? hook : undefined;
}

async function control(
  { kernel }: ClientContext,
  id: string,
  command: AgentCommand,
  hook?: number,
): Promise<void> {
  const agent = await window.withProgress({ location: { viewId: "lares.agents" } }, () =>
    kernel.request("lares/agents/control", { id, command, ...(hook === undefined ? {} : { hook }) }),
  );
  if (agent.state === "Error")
    void window.showErrorMessage(`${label(agent.name, 80)} stopped: ${message(agent.error ?? "")}`);
}

async function pickAgent(
  { models }: ClientContext,
  title: string,
  isOffered: IsOffered,
): Promise<string | undefined> {
  const items = models.agents.all.filter(isOffered).map((agent) => ({
    label: label(agent.name),
    description: healthOf(agent, models.jobs.of(agent.id).items, Date.now()).words,
    detail: label(agent.id),
    id: agent.id,
  }));
  if (items.length === 0) {
    void window.showInformationMessage(`${title}: no agent is in a state that allows this.`);
    return undefined;
  }
  return (await window.showQuickPick(items, { title, placeHolder: "Which agent?" }))?.id;
}
