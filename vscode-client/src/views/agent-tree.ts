import { eventsToday } from "../../../kernel/src/base/vocabulary/agent-words.ts";
import type { KernelState } from "../kernel/kernel.ts";
import { byUrgency, healthOf, isFailing, placeText, type Health } from "../model/agent-health.ts";
import type { HealthKind } from "../webviews/activity/messages.ts";
import { agentNames } from "../model/agent-names.ts";
import type { AgentJobs } from "../model/ports.ts";
import { size } from "../webviews/shared/size.ts";
import { count, label, message, when } from "../model/text.ts";
import { cut } from "../webviews/shared/label.ts";
import type { Agent } from "../protocol.ts";
import { jobNodes } from "./job-nodes.ts";
import type { TreeNode } from "./tree-node.ts";

/** How an agent is drawn: a filled, still icon if it waits for a person, a moving icon if it works. */
interface Look {
  readonly icon: string;
  readonly color?: string;
}

const failingLook = { icon: "error", color: "errorForeground" } as const;
const movingLook = { icon: "loading~spin" } as const;

const looks: Readonly<Record<HealthKind, Look>> = {
  manifest: failingLook,
  error: failingLook,
  failed: failingLook,
  permission: { icon: "shield", color: "editorWarning.foreground" },
  suspended: { icon: "debug-pause", color: "editorWarning.foreground" },
  changing: movingLook,
  working: movingLook,
  active: { icon: "pass", color: "testing.iconPassed" },
  asleep: { icon: "circle-outline", color: "disabledForeground" },
  off: { icon: "circle-slash", color: "disabledForeground" },
};

/** The number of details of one kind that are shown. */
const maxDetails = 100;

/** Returns a first item with what a person should know before looking at the agents; none if everything is fine. */
export function noticeNodes(state: KernelState, isAsking: boolean): TreeNode[] {
  switch (state.kind) {
    case "starting":
    case "running":
      return isAsking
        ? [
            notice("Choose what is new…", "agents ask for more than you allowed", "shield", {
              id: "lares.trustWorkspace",
              title: "Review",
            }),
          ]
        : [];
    case "untrusted":
      return state.by === "editor"
        ? [
            notice("Manage workspace trust…", "Restricted Mode: no agent runs", "workspace-untrusted", {
              id: "workbench.trust.manage",
              title: "Manage Workspace Trust",
            }),
          ]
        : [
            notice("Choose what agents may do…", "no agent runs yet", "shield", {
              id: "lares.trustWorkspace",
              title: "Review",
            }),
          ];
    case "silent":
      return [
        notice("Restart the kernel…", "it does not answer", "warning", {
          id: "lares.restartKernel",
          title: "Restart Kernel",
        }),
      ];
    case "restarting":
      return [
        notice("Restarting…", "the kernel ended", "warning", {
          id: "lares.showKernelLog",
          title: "Show Log",
        }),
      ];
    case "failed":
      return [];
  }
}

function notice(
  text: string,
  what: string,
  icon: string,
  command: { readonly id: string; readonly title: string },
): TreeNode {
  return {
    id: "notice",
    label: text,
    description: what,
    icon: { id: icon, color: "editorWarning.foreground" },
    context: "lares.notice",
    command: { ...command, arguments: [] },
  };
}

/**
 * Returns the items of the Agents view: one per agent, failing ones first, with its details beneath. `now`:
 * milliseconds since the epoch.
 */
export function agentNodes(
  agents: readonly Agent[],
  jobsOf: (agent: string) => AgentJobs,
  now: number,
): TreeNode[] {
  const nameOf = agentNames(agents);
  return agents
    .map((agent) => {
      const jobs = jobsOf(agent.id);
      return { agent, jobs, health: healthOf(agent, jobs.items, now) };
    })
    .toSorted((one, other) => byUrgency(one.health, other.health))
    .map(({ agent, jobs, health }) => agentNode(agent, label(nameOf(agent.id)), jobs, health, now));
}

function agentNode(agent: Agent, name: string, jobs: AgentJobs, health: Health, now: number): TreeNode {
  const { icon, color }: Look = looks[health.kind];
  const { words, problem } = health;
  const isOpen = isFailing(health);
  const why = problem === undefined ? "" : `: ${message(problem.message)}`;
  return {
    // The editor remembers whether an item is expanded. A failing agent gets another id, so that it is expanded.
    id: isOpen ? `agent ${agent.id} failing` : `agent ${agent.id}`,
    agent: agent.id,
    label: name,
    description: words,
    icon: color === undefined ? { id: icon } : { id: icon, color },
    tooltip: agentTooltip(agent, health, now),
    spoken: `Agent ${name}, ${words}${why}`,
    context: `lares.agent.${agent.disabled === true ? "Disabled" : agent.state}`,
    isOpen,
    children: [
      ...permissionNodes(agent),
      ...problemNodes(agent, health),
      ...jobNodes(agent.id, jobs, now),
      ...hookNodes(agent, now),
      ...toolNodes(agent),
      ...listNode(agent, "locations", "Locations", "folder", agent.locations.map(folderName)),
      ...listNode(agent, "permissions", "Permissions", "key", agent.permissions),
      memoryNode(agent),
    ],
  };
}

function agentTooltip(agent: Agent, { words, problem }: Health, now: number): string[] {
  const { metrics } = agent;
  const since = when(agent.since, now);
  const title = [label(agent.name, 1000), label(agent.version, 40), `(${label(agent.id)})`];
  return [
    title.filter((part) => part !== "").join(" "),
    since === "" ? words : `${words}. In this state since ${since}.`,
    ...(problem === undefined ? [] : [message(problem.message, 2000)]),
    eventsToday(metrics.events_today),
    `Since the kernel started: ${count(metrics.events_processed + metrics.events_failed, "event")}, ${metrics.events_failed.toLocaleString("en")} failed, ${metrics.avg_event_latency_ms.toFixed(1)} ms on average`,
    `Peak memory ${size(metrics.peak_memory_bytes)}, ${(metrics.cpu_time_ms / 1000).toFixed(1)} s of CPU time`,
  ];
}

function permissionNodes({ id, error, awaiting }: Agent): TreeNode[] {
  if (awaiting === undefined) return [];
  return [
    {
      id: `agent ${id} awaiting`,
      agent: id,
      label: "Choose what it may do…",
      icon: { id: "shield", color: "editorWarning.foreground" },
      ...(error === undefined ? {} : { tooltip: [message(error, 2000)] }),
      command: { id: "lares.trustWorkspace", title: "Choose", arguments: [] },
    },
  ];
}

/** Returns the items for an agent's problem: the problem, then its line, then the number of further problems. */
function problemNodes(agent: Agent, health: Health): TreeNode[] {
  const { problem, kind, problems } = health;
  if (problem === undefined) return [];
  const { id, metrics } = agent;
  const lead = { id: "lares.agentShowProblem", title: "Show Problem", arguments: [{ id }] };
  const words = message(problem.message);
  const { events_failed: failed, events_processed: processed } = metrics;
  return [
    {
      id: `agent ${id} problem`,
      agent: id,
      label: words,
      icon: isFailing(health)
        ? { id: kind === "manifest" ? "json" : "bug", color: "errorForeground" }
        : { id: "warning", color: "editorWarning.foreground" },
      tooltip: [message(problem.message, 2000)],
      spoken: `Problem: ${message(problem.message, 1000)}`,
      command: lead,
      context: "lares.agentProblem",
    },
    ...(problem.place === undefined
      ? []
      : [
          {
            id: `agent ${id} place`,
            agent: id,
            label: placeText(problem.place),
            ...(problem.handler === undefined ? {} : { description: `in ${label(problem.handler)}` }),
            icon: { id: "go-to-file" },
            tooltip: [label(problem.place.path, 4096)],
            spoken: `Open ${placeText(problem.place)}`,
            command: lead,
          },
        ]),
    ...(problems > 1
      ? [
          {
            id: `agent ${id} more problems`,
            agent: id,
            label: count(problems - 1, "more problem"),
            icon: { id: "list-unordered" },
            command: { id: "lares.agentShowProblems", title: "Show All Problems", arguments: [{ id }] },
          },
        ]
      : []),
    ...(failed > 0 && kind !== "manifest"
      ? [
          {
            id: `agent ${id} failed runs`,
            agent: id,
            label: `${failed.toLocaleString("en")} of ${count(failed + processed, "run")} failed`,
            description: "since the kernel started",
            icon: { id: "graph-line" },
            command: { id: "lares.agentShowTraces", title: "Show Log", arguments: [{ id }] },
            context: "lares.agentError",
          },
        ]
      : []),
  ];
}

function hookNodes(agent: Agent, now: number): TreeNode[] {
  if (agent.hooks.length === 0) return [];
  const children = agent.hooks.slice(0, maxDetails).map((hook, index): TreeNode => {
    const handler = label(hook.handler);
    const next = hook.nextRun === undefined ? "" : when(hook.nextRun, now);
    const trigger =
      hook.on === undefined
        ? [label(hook.schedule ?? ""), ...(next === "" ? [] : [`next run ${next}`])].join(" · ")
        : `on ${label(hook.on)}`;
    return {
      id: `agent ${agent.id} hook ${index}`,
      agent: agent.id,
      label: handler,
      description: trigger,
      icon: { id: hook.on === undefined ? "clock" : "zap" },
      tooltip: [
        `${handler}: ${trigger}`,
        ...(hook.filter === undefined ? [] : [`Only where ${label(hook.filter, 1000)}`]),
        ...(hook.nextRun === undefined ? [] : [`Next run: ${label(hook.nextRun, 40)}`]),
      ],
      context: "lares.hook",
    };
  });
  return [group(agent, "hooks", "Hooks", "zap", children, agent.hooks.length)];
}

function toolNodes(agent: Agent): TreeNode[] {
  if (agent.tools.length === 0) return [];
  const children = agent.tools.slice(0, maxDetails).map((tool): TreeNode => ({
    id: `agent ${agent.id} tool ${tool}`,
    agent: agent.id,
    tool,
    label: label(tool),
    icon: { id: "tools" },
    spoken: `Tool ${label(tool)}`,
    context: "lares.tool",
  }));
  return [group(agent, "tools", "Tools", "tools", children, agent.tools.length)];
}

function listNode(
  agent: Agent,
  key: string,
  title: string,
  icon: string,
  texts: readonly string[],
): TreeNode[] {
  if (texts.length === 0) return [];
  const children = texts.slice(0, maxDetails).map((text, index): TreeNode => ({
    id: `agent ${agent.id} ${key} ${index}`,
    agent: agent.id,
    label: label(text),
    icon: { id: icon },
    tooltip: [label(text, 1000)],
  }));
  return [group(agent, key, title, icon, children, texts.length)];
}

function group(
  agent: Agent,
  key: string,
  title: string,
  icon: string,
  children: readonly TreeNode[],
  amount: number,
): TreeNode {
  const shown = children.slice(0, 3).map((child) => child.label);
  const more = amount - shown.length;
  return {
    id: `agent ${agent.id} ${key}`,
    agent: agent.id,
    label: title,
    description: cut(`${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`, 80),
    icon: { id: icon },
    spoken: `${title}, ${amount}`,
    children:
      amount <= maxDetails
        ? children
        : [
            ...children,
            {
              id: `agent ${agent.id} ${key} more`,
              agent: agent.id,
              label: `… and ${amount - maxDetails} more`,
            },
          ],
  };
}

function memoryNode({ id, metrics }: Agent): TreeNode {
  const parts = [
    size(metrics.memory_size_bytes),
    count(metrics.temporal_events_count, "event"),
    count(metrics.knowledge_items_count, "item"),
  ];
  return {
    id: `agent ${id} memory`,
    agent: id,
    label: "Memory",
    description: parts.join(" · "),
    icon: { id: "database" },
    tooltip: [`What this agent remembers: ${parts.join(", ")} of knowledge`],
    command: { id: "lares.agentShowMemory", title: "Show Memory", arguments: [{ id }] },
    context: "lares.agentMemory",
  };
}

function folderName(location: string): string {
  return location === "." ? "the whole workspace" : location;
}
