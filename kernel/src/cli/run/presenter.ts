import type { Action } from "../../base/vocabulary/action.ts";
import { hasEnded } from "../../base/vocabulary/action.ts";
import type { Agent, AgentState } from "../../base/vocabulary/agent.ts";
import type { TraceEntry } from "../../base/vocabulary/trace.ts";
import { renderAction, renderActionLine } from "../render/action.ts";
import { renderAgentState, renderNotice, renderSummary, summaryLine } from "../render/agents.ts";
import { oneLine } from "../render/foreign.ts";
import type { Notice, RunSummary } from "../render/model.ts";
import { renderTrace } from "../render/trace.ts";
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

/** For people. Proposals that somebody is about to be asked about are not shown twice. */
export function textPresenter(terminal: Terminal, { asks }: { readonly asks: boolean }): Presenter {
  const shownStates = new Map<string, string>();
  const agentStates = new Map<string, AgentState>();
  return {
    trace: (entry) => terminal.print(renderTrace(entry, terminal.surface, { withDay: false })),
    agent({ id, state, error }) {
      // Waking, working and going to sleep is everyday life; only trouble, and its end, is worth a line.
      const before = agentStates.get(id);
      agentStates.set(id, state);
      const isTrouble = state === "Error" || state === "Suspended";
      const wasTrouble = before === "Error" || before === "Suspended";
      if (before === state || (!isTrouble && !wasTrouble)) return;
      const { style } = terminal.surface;
      const reason = error === undefined || !isTrouble ? "" : `: ${oneLine(error)}`;
      const sign = isTrouble ? style.red("✗") : style.green("✓");
      terminal.print(`${sign} ${style.cyan(oneLine(id))} ${renderAgentState(state, style)}${reason}`);
    },
    action(action) {
      if (shownStates.get(action.id) === action.state) return;
      shownStates.set(action.id, action.state);
      if (action.state === "PendingApproval") {
        if (!asks)
          terminal.print([
            ...renderAction(action, terminal.surface, { contents: "none" }),
            `All of it: lares actions show ${action.id}`,
          ]);
      } else if (hasEnded(action.state)) terminal.print(renderActionLine(action, terminal.surface));
    },
    notice: (notice) => terminal.print(renderNotice(notice, terminal.surface)),
    remark: (text) => terminal.warn(terminal.errorSurface.style.dim(oneLine(text))),
    summary(summary) {
      terminal.print(["", ...renderSummary(summary, terminal.surface), summaryLine(summary)]);
    },
  };
}

/** For programs: one JSON object a line, each with its `type`. */
export function jsonPresenter(terminal: Terminal): Presenter {
  const agentLines = new Map<string, string>();
  return {
    trace: (entry) => terminal.json({ type: "trace", ...entry }),
    agent({ id, state, error }) {
      // Told of also when only its counts are others.
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
