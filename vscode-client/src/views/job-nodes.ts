import { jobProgressWords, jobWaitsFor } from "../../../kernel/src/base/vocabulary/job-words.ts";
import type { AgentJobs } from "../model/ports.ts";
import { count, label, message, when } from "../model/text.ts";
import type { Job } from "../protocol.ts";
import type { TreeNode } from "./tree-node.ts";

/** The number of characters of a job's own message that are shown. */
const maxMessageLength = 80;

/** Returns an agent's jobs as one collapsed item; none if there are no jobs. */
export function jobNodes(agent: string, { items, total }: AgentJobs, now: number): TreeNode[] {
  if (total === 0) return [];
  const running = items.filter(({ state }) => state !== "Waiting").length;
  const waiting = total - running;
  const description = [
    ...(running > 0 ? [`${running.toLocaleString("en")} running`] : []),
    ...(waiting > 0 ? [`${waiting.toLocaleString("en")} queued`] : []),
  ].join(", ");
  const more = total - items.length;
  const id = `agent ${agent} jobs`;
  return [
    {
      id,
      agent,
      label: "Jobs",
      description,
      icon: { id: "checklist" },
      spoken: `Jobs, ${description}`,
      children: [
        ...items.map((job) => jobNode(job, now)),
        ...(more > 0 ? [{ id: `${id} more`, agent, label: `… and ${more.toLocaleString("en")} more` }] : []),
      ],
    },
  ];
}

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
    context: state === "Cancelling" ? "lares.job.Cancelling" : "lares.job",
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
  const { key, priority, attempt, dispatched, checkpoint, progress } = job;
  const since = when(dispatched, now);
  return [
    `${name}: ${words}`,
    ...((progress?.message ?? "").length > maxMessageLength ? [message(progress?.message ?? "", 2000)] : []),
    [
      ...(since === "" ? [] : [`Dispatched ${since}`]),
      ...(priority === "normal" ? [] : [`${priority} priority`]),
      ...(attempt > 1 ? [`tried ${count(attempt - 1, "time")} before`] : []),
    ].join(", "),
    ...(key === undefined ? [] : [`Key: ${label(key)}`]),
    ...(checkpoint ? ["It has saved a checkpoint and continues from there if it is interrupted."] : []),
  ].filter((line) => line !== "");
}
