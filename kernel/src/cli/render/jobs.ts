import { jobProgressWords, jobWaitsFor } from "../../base/vocabulary/job-words.ts";
import type { Job, JobState } from "../../base/vocabulary/job.ts";
import { oneLine } from "./foreign.ts";
import { counted, dayAndTime } from "./quantities.ts";
import type { Style, Surface } from "./style.ts";
import { renderTable } from "./table.ts";

function renderJobState(state: JobState, style: Style): string {
  switch (state) {
    case "Running":
      return style.green("running");
    case "Waiting":
      return style.dim("queued");
    case "Cancelling":
      return style.yellow("being cancelled");
    case "Cancelled":
      return style.yellow("cancelled");
  }
}

/** Renders the jobs that have not ended, in the order in which they will run. */
export function renderJobs(
  { items, total }: { readonly items: readonly Job[]; readonly total: number },
  surface: Surface,
): string[] {
  const { style } = surface;
  if (items.length === 0) return [style.dim("No job is queued or running.")];
  const rows = items.map((job) => [
    // The end of an id: its start is the time, which jobs of the same period share.
    job.id.slice(-8),
    renderJobState(job.state, style),
    oneLine(job.agent),
    oneLine(job.name),
    dayAndTime(job.dispatched),
    job.priority === "normal" ? "" : job.priority,
    jobStatus(job),
  ]);
  const columns = [
    { title: "Id" },
    { title: "State" },
    { title: "Agent" },
    { title: "Job" },
    { title: "Dispatched" },
    { title: "Priority" },
    { title: "Status", flexible: true },
  ];
  const left = total - items.length;
  return [
    ...renderTable(columns, rows, surface),
    ...(left > 0 ? [style.dim(`… and ${counted(left, "more job")}`)] : []),
  ];
}

/** Renders the result of a cancellation. */
export function renderCancelledJob({ agent, name, state }: Job, { style }: Surface): string {
  const what = `${style.bold(oneLine(name))}  ${style.dim(oneLine(agent))}`;
  const rest = state === "Cancelling" ? ": its agent was asked to stop it" : ": it had not started";
  return `${style.yellow("✗")} cancelled  ${what}${style.dim(rest)}`;
}

function jobStatus(job: Job): string {
  const words = job.state === "Waiting" ? jobWaitsFor(job, (time) => `at ${dayAndTime(time)}`) : "";
  const saved = job.state === "Waiting" && job.checkpoint ? "continues from its checkpoint" : "";
  return [jobProgressWords(job, oneLine), words, saved].filter((part) => part !== "").join(", ");
}
