import type { KernelState } from "../kernel/kernel.ts";
import { count, label, message } from "../model/text.ts";
import type { Status } from "../protocol.ts";

/** The content of the status bar item. */
interface StatusBarLook {
  readonly text: string;
  readonly tooltip: string;
  readonly command: string;
  readonly arguments?: readonly unknown[];
  readonly background?: "statusBarItem.warningBackground" | "statusBarItem.errorBackground";
}

/** An agent by its id and its display name. */
interface NamedAgent {
  readonly id: string;
  readonly name: string;
}

export interface StatusBarFacts {
  readonly state: KernelState;
  readonly status: Status | undefined;
  /** Changes that a person can decide now. */
  readonly waiting: number;
  /** Questions that calls of agents wait for. */
  readonly questions: number;
  /** The number of agents. */
  readonly agents: number;
  /** The agents that fail, and those with a running job. */
  readonly failing: readonly NamedAgent[];
  readonly working: readonly NamedAgent[];
}

/**
 * Returns the look of the status bar item. A filled, still icon (a bell, a shield) means that something waits for the
 * person, a moving icon means work, and an error icon means a failure: no two of them share an icon.
 */
export function statusBarLook(facts: StatusBarFacts): StatusBarLook {
  const { state } = facts;
  const showStatus = "lares.showStatus";
  switch (state.kind) {
    case "starting":
      return { text: "$(loading~spin) Lares: starting", tooltip: "Lares is starting", command: showStatus };
    case "restarting":
      return {
        text: "$(warning) Lares: restarting",
        tooltip: `Lares ended and restarts in ${Math.ceil(state.inMs / 1000)} s. Pending changes are kept.\n${message(state.reason)}`,
        command: showStatus,
        background: "statusBarItem.warningBackground",
      };
    case "silent":
      return {
        text: "$(warning) Lares: no answer",
        tooltip: `Lares does not answer, so its agents are not running. Pending changes are kept. Run “Lares: Restart Kernel” to continue.\n${message(state.reason)}`,
        command: showStatus,
        background: "statusBarItem.warningBackground",
      };
    case "failed":
      return {
        text: "$(error) Lares: not running",
        tooltip: `Lares is not running: ${message(state.reason)}`,
        command: showStatus,
        background: "statusBarItem.errorBackground",
      };
    case "untrusted":
      return state.by === "editor"
        ? {
            text: "$(workspace-untrusted) Lares: Restricted Mode",
            tooltip:
              "The editor does not trust this folder, so no agent runs. Click to manage workspace trust.",
            command: "workbench.trust.manage",
          }
        : {
            text: "$(shield) Lares: needs your permission",
            tooltip: "No agent runs until you choose what agents may do in this folder.",
            command: "lares.trustWorkspace",
          };
    case "running":
      return runningLook(facts);
  }
}

function runningLook({
  status,
  waiting,
  questions,
  agents,
  failing,
  working,
}: StatusBarFacts): StatusBarLook {
  const asks = status?.trust.pending.length ?? 0;
  const [failed] = failing;
  const [busy] = working;
  const lines = [
    waiting === 0 ? "No change waits for you" : waitingWords(waiting),
    ...(questions === 0 ? [] : [count(questions, "question waits for you", "questions wait for you")]),
    ...(failing.length === 0 ? [] : [failingWords(failing)]),
    ...(asks === 0 ? [] : ["Agents ask for more than you allowed"]),
    ...(working.length === 0 ? [] : [`Working: ${names(working)}`]),
    count(agents, "agent"),
    ...(status === undefined
      ? []
      : [`${count(status.index.entries, "file or folder", "files and folders")} indexed`]),
    ...(waiting === 0
      ? []
      : ["The letter L, in the explorer and on tabs, marks a file that a waiting change would touch"]),
  ];
  const tooltip = `Lares: ${lines.join("\n")}`;
  const together = waiting + questions;
  if (together > 0)
    return {
      text: `$(bell-dot) Lares: ${together.toLocaleString("en")} ${together === 1 ? "waits" : "wait"} for you${failed === undefined ? "" : ` $(error) ${failing.length}`}`,
      tooltip,
      command: "lares.approvals.focus",
      background: "statusBarItem.warningBackground",
    };
  if (asks > 0)
    return { text: "$(shield) Lares: needs your permission", tooltip, command: "lares.trustWorkspace" };
  if (failed !== undefined)
    return {
      text: `$(error) Lares: ${failing.length === 1 ? `${label(failed.name, 40)} fails` : `${failing.length} agents fail`}`,
      tooltip,
      ...(failing.length === 1
        ? { command: "lares.agentShowProblem", arguments: [{ id: failed.id }] }
        : { command: "lares.agents.focus" }),
      background: "statusBarItem.errorBackground",
    };
  if (status !== undefined && !status.ready)
    return { text: "$(loading~spin) Lares: indexing", tooltip, command: "lares.showStatus" };
  if (busy !== undefined)
    return {
      text: `$(loading~spin) Lares: ${working.length === 1 ? `${label(busy.name, 40)} works` : `${working.length} agents work`}`,
      tooltip,
      command: "lares.agents.focus",
    };
  return { text: "$(home) Lares", tooltip, command: "lares.showStatus" };
}

function waitingWords(waiting: number): string {
  return waiting === 1 ? "1 change waits for you" : `${waiting.toLocaleString("en")} changes wait for you`;
}

function failingWords(failing: readonly NamedAgent[]): string {
  return `${names(failing)} ${failing.length === 1 ? "fails" : "fail"}`;
}

/** The number of agents that a tooltip names. */
const maxNames = 5;

function names(agents: readonly NamedAgent[]): string {
  const shown = agents.slice(0, maxNames).map(({ name }) => label(name, 40));
  const more = agents.length - shown.length;
  return `${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
