import { jobProgressWords, jobWaitsFor } from "../../../kernel/src/base/vocabulary/job-words.ts";
import type { AgentJobs, JobList } from "../model/ports.ts";
import { count, label, message, when } from "../model/text.ts";
import type { Job } from "../protocol.ts";
import type { TreeNode } from "./tree-node.ts";

/** The number of characters of a job's own message that are shown. */
const maxMessageLength = 80;

/** Returns an agent's jobs as one collapsed item, and its dead ones as another; none of those that are empty. */
export function jobNodes(agent: string, jobs: AgentJobs, now: number): TreeNode[] {
  const running = jobs.items.filter(({ state }) => state !== "Waiting").length;
  const waiting = jobs.total - running;
  const { dead } = jobs;
  return [
    ...group(
      { id: `agent ${agent} jobs`, agent, label: "Jobs", icon: { id: "checklist" } },
      [
        ...(running > 0 ? [`${running.toLocaleString("en")} running`] : []),
        ...(waiting > 0 ? [`${waiting.toLocaleString("en")} queued`] : []),
      ].join(", "),
      jobs,
      now,
    ),
    ...group(
      { id: `agent ${agent} dead jobs`, agent, label: "Dead Jobs", icon: { id: "error" } },
      `${dead.total.toLocaleString("en")} given up`,
      dead,
      now,
    ),
  ];
}

function group(
  node: TreeNode & { readonly id: string; readonly agent: string },
  description: string,
  { items, total }: JobList,
  now: number,
): TreeNode[] {
  if (total === 0) return [];
  const { id, agent } = node;
  const more = total - items.length;
  return [
    {
      ...node,
      description,
      spoken: `${node.label}, ${description}`,
      children: [
        ...items.map((job) => jobNode(job, now)),
        ...(more > 0 ? [{ id: `${id} more`, agent, label: `… and ${more.toLocaleString("en")} more` }] : []),
      ],
    },
  ];
}

const contexts: Readonly<Partial<Record<Job["state"], string>>> = {
  Cancelling: "lares.job.Cancelling",
  Dead: "lares.deadJob",
};

function jobNode(job: Job, now: number): TreeNode {
  const { id, agent, state } = job;
  const name = label(job.name);
  const words = howItIs(job, now);
  return {
    id: `job ${id}`,
    agent,
    job: { id, agent },
    label: name,
    description: words,
    icon: iconOf(job),
    tooltip: tooltipOf(job, name, words, now),
    spoken: `Job ${name}, ${words}`,
    context: contexts[state] ?? "lares.job",
  };
}

function howItIs(job: Job, now: number): string {
  switch (job.state) {
    case "Cancelling":
    case "Cancelled":
      return "being cancelled";
    case "Running":
      return jobProgressWords(job, (text) => message(text, maxMessageLength)) || "running";
    case "Waiting":
      return jobWaitsFor(job, (time) => when(time, now)) || "queued";
    case "Dead":
      return message(job.error ?? "failed for good", maxMessageLength);
  }
}

function iconOf({ state, when_idle, due }: Job): NonNullable<TreeNode["icon"]> {
  switch (state) {
    case "Running":
      return { id: "loading~spin" };
    case "Cancelling":
    case "Cancelled":
      return { id: "circle-slash", color: "editorWarning.foreground" };
    case "Dead":
      return { id: "error", color: "editorError.foreground" };
    case "Waiting":
      return {
        id: when_idle || due !== undefined ? "clock" : "circle-outline",
        color: "disabledForeground",
      };
  }
}

function tooltipOf(job: Job, name: string, words: string, now: number): string[] {
  const { key, priority, attempt, dispatched, checkpoint, progress, state, error, failed } = job;
  const since = when(dispatched, now);
  const isDead = state === "Dead";
  const died = failed === undefined ? "" : when(failed, now);
  return [
    `${name}: ${words}`,
    ...((progress?.message ?? "").length > maxMessageLength ? [message(progress?.message ?? "", 2000)] : []),
    ...((error ?? "").length > maxMessageLength ? [message(error ?? "", 2000)] : []),
    [
      ...(since === "" ? [] : [`Dispatched ${since}`]),
      ...(priority === "normal" ? [] : [`${priority} priority`]),
      ...(isDead ? [`tried ${count(attempt, "time")}`] : []),
      ...(!isDead && attempt > 1 ? [`tried ${count(attempt - 1, "time")} before`] : []),
      ...(died === "" ? [] : [`given up ${died}`]),
    ].join(", "),
    ...(key === undefined ? [] : [`Key: ${label(key)}`]),
    ...(checkpoint
      ? [`It has saved a checkpoint and continues from there if it is ${isDead ? "retried" : "interrupted"}.`]
      : []),
  ].filter((line) => line !== "");
}
