import type { Action } from "../../base/vocabulary/action.ts";
import { hasEnded } from "../../base/vocabulary/action.ts";
import type { Agent, AgentState } from "../../base/vocabulary/agent.ts";
import type { TraceEntry } from "../../base/vocabulary/trace.ts";
import { renderAction, renderActionLine } from "../render/action.ts";
import { renderAgentState, renderNotice, signOf, renderSummary, summaryLine } from "../render/agents.ts";
import { oneLine } from "../render/foreign.ts";
import type { Notice, RunSummary } from "../render/model.ts";
import { renderStep } from "../render/step.ts";
import { systemNotification } from "../render/system-notification.ts";
import { renderTrace } from "../render/trace.ts";
import { noStyle } from "../render/style.ts";
import { wrap } from "../render/width.ts";
import type { Terminal } from "../terminal.ts";

/** Shows what happens during a run. */
export interface Presenter {
  trace(entry: TraceEntry): void;
  agent(agent: Agent): void;
  /** An action is new or has a new state. */
  action(action: Action): void;
  notice(notice: Notice): void;
  /** A remark of the run itself. */
  remark(text: string): void;
  summary(summary: RunSummary): void;
}

/** For people. Does not show proposals that the person is about to be asked about. */
export function textPresenter(terminal: Terminal, { asks }: { readonly asks: boolean }): Presenter {
  const shownStates = new Map<string, string>();
  const agentStates = new Map<string, AgentState>();
  return {
    trace: (entry) =>
      terminal.print(
        entry.step === undefined
          ? renderTrace(entry, terminal.surface, { withDay: false, isWhole: !terminal.isTerminal })
          : renderStep(entry, terminal.surface),
      ),
    agent(agent) {
      const { id, state, error } = agent;
      // Loading, working and unloading are routine; only errors, and their end, are shown.
      const before = agentStates.get(id);
      agentStates.set(id, state);
      const isTrouble = state === "Error" || state === "Suspended";
      const wasTrouble = before === "Error" || before === "Suspended";
      if (before === state || (!isTrouble && !wasTrouble)) return;
      const { style, width } = terminal.surface;
      const reason = error === undefined || !isTrouble ? "" : `: ${oneLine(error)}`;
      const sign = isTrouble ? signOf(agent, style) : style.green("✓");
      const name = oneLine(id);
      const word = renderAgentState(agent, noStyle);
      const [first = "", ...rest] = wrap(`${name} ${word}${reason}`, width - 2);
      const head = `${name} ${word}`;
      const coloured = first.startsWith(head)
        ? `${style.cyan(name)} ${renderAgentState(agent, style)}${first.slice(head.length)}`
        : first;
      terminal.print([`${sign} ${coloured}`, ...rest.map((line) => `  ${line}`)]);
    },
    action(action) {
      if (shownStates.get(action.id) === action.state) return;
      shownStates.set(action.id, action.state);
      if (action.state === "PendingApproval") {
        if (!asks)
          terminal.print([
            ...renderAction(action, terminal.surface, { contents: "none" }),
            `See all changes: lares actions show ${action.id}`,
          ]);
      } else if (hasEnded(action.state)) terminal.print(renderActionLine(action, terminal.surface));
    },
    notice(notice) {
      const { channels = ["terminal"], title, message } = notice;
      if (channels.includes("terminal")) terminal.print(renderNotice(notice, terminal.surface));
      if (channels.includes("os")) terminal.write(systemNotification(`${title}: ${message}`));
    },
    remark: (text) => terminal.warn(terminal.errorSurface.style.dim(oneLine(text))),
    summary(summary) {
      terminal.print(["", ...renderSummary(summary, terminal.surface), summaryLine(summary)]);
    },
  };
}

/** For programs: one JSON object per line, each with its `type`. */
export function jsonPresenter(terminal: Terminal): Presenter {
  const agentLines = new Map<string, string>();
  return {
    trace: (entry) => terminal.json({ type: "trace", ...entry }),
    agent({ id, state, error }) {
      // The notification is also sent when only the agent's counts change.
      const line = JSON.stringify([state, error]);
      if (agentLines.get(id) === line) return;
      agentLines.set(id, line);
      terminal.json({ type: "agent", id, state, error });
    },
    action: (action) => terminal.json({ type: "action", action }),
    notice: (notice) => terminal.json({ type: "notice", ...notice }),
    remark: (text) => terminal.warn(oneLine(text)),
    summary: ({ agents, totals, pendingActions }) =>
      terminal.json({ type: "summary", agents: agents.length, ...totals, pending_actions: pendingActions }),
  };
}
