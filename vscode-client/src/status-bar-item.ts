import type { KernelState } from "./kernel/kernel.ts";
import { count, label } from "./model/text.ts";
import type { Status } from "./protocol.ts";

/** What the status bar says. */
export interface StatusBarLook {
  readonly text: string;
  readonly tooltip: string;
  readonly command: string;
  readonly background?: "statusBarItem.warningBackground" | "statusBarItem.errorBackground";
}

export interface StatusBarFacts {
  readonly state: KernelState;
  readonly status: Status | undefined;
  readonly waiting: number;
  /** Agents by what a person should know: all, and those in error. */
  readonly agents: number;
  readonly failing: number;
}

export function statusBarLook(facts: StatusBarFacts): StatusBarLook {
  const { state, status, waiting } = facts;
  const showStatus = "lares.showStatus";
  switch (state.kind) {
    case "starting":
      return { text: "$(sync~spin) Lares", tooltip: "Lares: the kernel is starting", command: showStatus };
    case "restarting":
      return {
        text: "$(warning) Lares: restarting",
        tooltip: `Lares: the kernel ended and is started again in ${Math.ceil(state.inMs / 1000)} s. What waits for you is kept.\n${label(state.reason, 300)}`,
        command: showStatus,
        background: "statusBarItem.warningBackground",
      };
    case "silent":
      return {
        text: "$(warning) Lares: no answer",
        tooltip: `Lares: the kernel does not answer, so its agents stand still. What waits for you is kept; “Lares: Restart Kernel” goes on with it.\n${label(state.reason, 300)}`,
        command: showStatus,
        background: "statusBarItem.warningBackground",
      };
    case "failed":
      return {
        text: "$(error) Lares: not running",
        tooltip: `Lares is not running: ${label(state.reason, 300)}`,
        command: showStatus,
        background: "statusBarItem.errorBackground",
      };
    case "untrusted":
      return state.by === "editor"
        ? {
            text: "$(shield) Lares: restricted",
            tooltip: "Lares: this folder is not trusted in the editor, so no agent runs",
            command: "workbench.trust.manage",
          }
        : {
            text: "$(shield) Lares: review",
            tooltip: "Lares: no agent runs until you have looked at what this workspace asks for",
            command: "lares.trustWorkspace",
          };
    case "running":
      return runningLook(facts, status, waiting);
  }
}

function runningLook(
  { agents, failing }: StatusBarFacts,
  status: Status | undefined,
  waiting: number,
): StatusBarLook {
  const asks = status?.trust.pending.length ?? 0;
  const facts = [
    waiting === 0 ? "Nothing waits for you" : `${count(waiting, "action")} waiting for you`,
    failing === 0 ? count(agents, "agent") : `${count(agents, "agent")}, ${failing} in error`,
    ...(status === undefined
      ? []
      : [`${count(status.index.entries, "file and folder", "files and folders")} known`]),
    ...(asks === 0 ? [] : ["This workspace asks for more than you allowed"]),
  ];
  const tooltip = `Lares: ${facts.join("\n")}`;
  if (waiting > 0)
    return { text: `$(bell-dot) Lares: ${waiting} waiting`, tooltip, command: "lares.approvals.focus" };
  if (asks > 0) return { text: "$(shield) Lares: review", tooltip, command: "lares.trustWorkspace" };
  if (failing > 0)
    return { text: `$(warning) Lares: ${failing} in error`, tooltip, command: "lares.agents.focus" };
  if (status !== undefined && !status.ready)
    return { text: "$(sync~spin) Lares: indexing", tooltip, command: "lares.showStatus" };
  return { text: "$(home) Lares", tooltip, command: "lares.showStatus" };
}
