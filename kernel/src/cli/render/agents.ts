import { agentWord } from "../../base/vocabulary/agent-words.ts";
import type { Agent } from "../../base/vocabulary/agent.ts";
import { oneLine } from "./foreign.ts";
import type { Notice, RunSummary } from "./model.ts";
import { bytes, counted, dayAndTime, duration } from "./quantities.ts";
import type { Style, Surface } from "./style.ts";
import { renderTable } from "./table.ts";
import { wrap } from "./width.ts";
import { hint } from "./hint.ts";

/** Shows what the person decided, or still has to decide, instead of the state: neither is an error. */
export function renderAgentState(
  agent: Pick<Agent, "state" | "disabled" | "awaiting">,
  style: Style,
): string {
  const word = agentWord(agent).toLowerCase();
  if (agent.disabled === true) return style.dim(word);
  if (agent.awaiting !== undefined) return style.yellow(word);
  switch (agent.state) {
    case "Active":
      return style.green(word);
    case "Initializing":
      return style.blue(word);
    case "Unloaded":
    case "ShuttingDown":
      return style.dim(word);
    case "Suspended":
      return style.yellow(word);
    case "Error":
      return style.red(word);
  }
}

/** Renders the agents of a workspace, and beneath the table why agents have failed. */
export function renderAgents(agents: readonly Agent[], surface: Surface): string[] {
  const { style } = surface;
  if (agents.length === 0)
    return hint("No extension is enabled here. Add one under `extensions:` in lares.yaml.", surface);
  const rows = agents.map((agent) => [
    oneLine(agent.id),
    oneLine(agent.version),
    renderAgentState(agent, style),
    String(agent.metrics.events_today),
    String(agent.tools.length),
    agent.permissions.map(oneLine).join(", ") || "–",
    agent.locations.map(oneLine).join(", ") || "–",
  ]);
  const table = renderTable(
    [
      { title: "Agent" },
      { title: "Version" },
      { title: "State" },
      { title: "Events today", align: "right" },
      { title: "Tools", align: "right" },
      { title: "May", flexible: true },
      { title: "Where" },
    ],
    rows,
    surface,
  );
  return [...table, ...renderTroubles(agents, surface)];
}

function renderTroubles(agents: readonly Agent[], { style, width }: Surface): string[] {
  return agents.flatMap((agent) =>
    troublesOf(agent).flatMap((trouble) => {
      const [first = "", ...rest] = wrap(`${oneLine(agent.id)}: ${oneLine(trouble)}`, width - 2);
      return [`${signOf(agent, style)} ${first}`, ...rest.map((line) => `  ${line}`)];
    }),
  );
}

/** Returns "✗" for an agent that failed, "!" for one that waits for the person. */
export function signOf({ awaiting }: Pick<Agent, "awaiting">, style: Style): string {
  return awaiting === undefined ? style.red("✗") : style.yellow("!");
}

function troublesOf({ id, error, problems, last_failure: failure, hooks }: Agent): string[] {
  const more = problems === undefined || problems < 2 ? "" : ` (${counted(problems, "problem")} in all)`;
  const place = failure?.place === undefined ? "" : ` (${failure.place.path}:${failure.place.line})`;
  return [
    ...(error === undefined ? [] : [`${error}${more}`]),
    ...(failure === undefined
      ? []
      : [`${failure.handler} failed at ${dayAndTime(failure.at)}: ${failure.message}${place}`]),
    ...hooks.flatMap(({ handler, schedule = "", missing_capability: missing }) =>
      missing === undefined
        ? []
        : [
            `the schedule of ${handler} (${schedule}) waits for a device with ${missing}. If this one has it, list it under device.capabilities in your lares.yaml.`,
          ],
    ),
    ...hooks.flatMap(({ handler, schedule = "", suspended }, at) =>
      suspended === undefined
        ? []
        : [
            `the schedule of ${handler} (${schedule}) is suspended since ${dayAndTime(suspended.since)}; lares agents resume ${id} --hook ${at} resumes it. Three runs in a row failed: ${suspended.error}`,
          ],
    ),
  ];
}

/** Renders the result of a run, one row per agent. */
export function renderSummary({ agents, actionsBy, pendingActions }: RunSummary, surface: Surface): string[] {
  const { style } = surface;
  const done = (count: number, failed: number): string =>
    failed > 0 ? `${count} ${style.red(`(${failed} failed)`)}` : String(count);
  const haveJobs = agents.some(({ metrics }) => metrics.jobs_completed + metrics.jobs_failed > 0);
  const rows = agents.map((agent) => {
    const { metrics } = agent;
    return [
      oneLine(agent.id),
      renderAgentState(agent, style),
      done(metrics.events_processed + metrics.events_failed, metrics.events_failed),
      ...(haveJobs ? [done(metrics.jobs_completed + metrics.jobs_failed, metrics.jobs_failed)] : []),
      String(actionsBy.get(agent.id) ?? 0),
      bytes(metrics.memory_size_bytes),
      bytes(metrics.peak_memory_bytes),
      duration(metrics.cpu_time_ms),
    ];
  });
  const table = renderTable(
    [
      { title: "Agent", flexible: false },
      { title: "State" },
      { title: "Events", align: "right" },
      ...(haveJobs ? [{ title: "Jobs", align: "right" } as const] : []),
      { title: "Actions", align: "right" },
      { title: "Memory", align: "right" },
      { title: "Peak RAM", align: "right" },
      { title: "CPU", align: "right" },
    ],
    rows,
    surface,
  );
  const pending =
    pendingActions > 0
      ? [
          `${style.yellow("?")} ${counted(pendingActions, "action")} ${pendingActions === 1 ? "waits" : "wait"} for an answer`,
        ]
      : [];
  return [...table, ...renderTroubles(agents, surface), ...pending];
}

/** Returns the last line of a run, always in this form and without colours, for scripts. */
export function summaryLine({ agents, totals }: RunSummary): string {
  const { events, actions, refusals } = totals;
  return `${agents.length} agents, ${events} events, ${actions} actions, ${refusals} refusals`;
}

export function renderNotice(
  notice: Pick<Notice, "agent" | "title" | "message" | "severity" | "count">,
  { style, width }: Surface,
): string[] {
  const sign =
    notice.severity === "error"
      ? style.red("✗")
      : notice.severity === "warning"
        ? style.yellow("!")
        : style.blue("i");
  const times = (notice.count ?? 1) > 1 ? ` (${notice.count} times)` : "";
  const head = `${sign} ${style.bold(oneLine(notice.title))}${times}  ${style.dim(oneLine(notice.agent))}`;
  const message = oneLine(notice.message);
  return [head, ...(message === "" ? [] : wrap(message, width - 2).map((line) => `  ${line}`))];
}
