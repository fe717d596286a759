import { agentWord, eventsToday } from "../../../kernel/src/base/vocabulary/agent-words.ts";
import type { KernelState } from "../kernel/kernel.ts";
import { agentNames } from "../model/agent-names.ts";
import type { AgentJobs } from "../model/ports.ts";
import { size } from "../model/size.ts";
import { count, cut, label, when } from "../model/text.ts";
import type { Agent, AgentState } from "../protocol.ts";
import { jobNodes } from "./job-nodes.ts";
import type { TreeNode } from "./tree-node.ts";

/** How a state is drawn. */
interface Look {
  readonly icon: string;
  readonly color?: string;
}

const looks: Readonly<Record<AgentState, Look>> = {
  Active: { icon: "pass", color: "testing.iconPassed" },
  Unloaded: { icon: "circle-outline", color: "disabledForeground" },
  Initializing: { icon: "sync~spin" },
  Suspended: { icon: "debug-pause", color: "editorWarning.foreground" },
  Error: { icon: "error", color: "errorForeground" },
  ShuttingDown: { icon: "sync~spin" },
};

const disabledLook = { icon: "circle-slash", color: "disabledForeground" } as const;

const awaitingLook = {
  icon: "shield",
  color: "editorWarning.foreground",
} as const;

/** Of one kind of detail, so many are shown. */
const maxDetails = 100;

/** What a person should know before they look at the agents, as the first item; none where all is well. */
export function noticeNodes(state: KernelState, isAsking: boolean): TreeNode[] {
  switch (state.kind) {
    case "starting":
    case "running":
      return isAsking
        ? [
            notice("Review what is new…", "asks for more than you allowed", "shield", {
              id: "lares.trustWorkspace",
              title: "Review",
            }),
          ]
        : [];
    case "untrusted":
      return state.by === "editor"
        ? [
            notice("Manage workspace trust…", "no agent runs", "shield", {
              id: "workbench.trust.manage",
              title: "Manage Workspace Trust",
            }),
          ]
        : [
            notice("Review what this asks for…", "no agent runs yet", "shield", {
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

/** The Agents view: an item per agent, and beneath it what it is made of. `now` in milliseconds of the epoch. */
export function agentNodes(
  agents: readonly Agent[],
  jobsOf: (agent: string) => AgentJobs,
  now: number,
): TreeNode[] {
  const nameOf = agentNames(agents);
  return agents.map((agent) => agentNode(agent, label(nameOf(agent.id)), jobsOf(agent.id), now));
}

function isBroken({ state, awaiting }: Agent): boolean {
  return state === "Error" && awaiting === undefined;
}

function lookOf({ state, disabled, awaiting }: Agent): Look {
  if (disabled === true) return disabledLook;
  return awaiting === undefined ? looks[state] : awaitingLook;
}

function agentNode(agent: Agent, name: string, jobs: AgentJobs, now: number): TreeNode {
  const { icon, color } = lookOf(agent);
  const word = agentWord(agent);
  const { events_today: events } = agent.metrics;
  const description = [word, ...(events > 0 ? [eventsToday(events)] : [])].join(" · ");
  return {
    // The editor keeps an item as open as it was; one that came into error is a new one, and opened.
    id: isBroken(agent) ? `agent ${agent.id} in error` : `agent ${agent.id}`,
    agent: agent.id,
    label: name,
    description,
    icon: color === undefined ? { id: icon } : { id: icon, color },
    tooltip: agentTooltip(agent, word, now),
    spoken: `Agent ${name}, ${word}${agent.error === undefined ? "" : `: ${label(agent.error, 300)}`}, ${eventsToday(events)}`,
    context: `lares.agent.${agent.disabled === true ? "Disabled" : agent.state}`,
    isOpen: isBroken(agent),
    children: [
      ...errorNodes(agent),
      ...jobNodes(agent.id, jobs, now),
      ...hookNodes(agent, now),
      ...toolNodes(agent),
      ...listNode(agent, "locations", "Locations", "folder", agent.locations.map(folderName)),
      ...listNode(agent, "permissions", "Permissions", "key", agent.permissions),
      memoryNode(agent),
    ],
  };
}

function agentTooltip(agent: Agent, word: string, now: number): string[] {
  const { metrics } = agent;
  const since = when(agent.since, now);
  return [
    `${label(agent.name)} ${label(agent.version, 40)} (${label(agent.id)})`,
    since === "" ? word : `${word} since ${since}`,
    ...(agent.error === undefined ? [] : [label(agent.error, 1000)]),
    eventsToday(metrics.events_today),
    `Since the kernel started ${count(metrics.events_processed + metrics.events_failed, "event")}, ${metrics.events_failed.toLocaleString("en")} of them failed, ${metrics.avg_event_latency_ms.toFixed(1)} ms each`,
    `At most ${size(metrics.peak_memory_bytes)} of working storage, ${(metrics.cpu_time_ms / 1000).toFixed(1)} s of processor time`,
  ];
}

function errorNodes({ id, error, state, awaiting }: Agent): TreeNode[] {
  if (error === undefined) return [];
  if (awaiting !== undefined)
    return [
      {
        id: `agent ${id} awaiting`,
        agent: id,
        label: label(error, 200),
        icon: { id: "shield", color: "editorWarning.foreground" },
        tooltip: [label(error, 2000)],
        command: { id: "lares.trustWorkspace", title: "Review", arguments: [] },
      },
    ];
  return [
    {
      id: `agent ${id} error`,
      agent: id,
      label: label(error, 200),
      icon:
        state === "Error"
          ? { id: "error", color: "errorForeground" }
          : { id: "warning", color: "editorWarning.foreground" },
      tooltip: [label(error, 2000)],
      spoken: `Error: ${label(error, 1000)}`,
      command: { id: "lares.agentShowTraces", title: "Show Traces", arguments: [{ id }] },
      context: "lares.agentError",
    },
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
