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
    case "Dead":
      return style.red("dead");
  }
}

/** Renders the jobs that have not ended, in the order in which they will run, or the dead ones. */
export function renderJobs(
  { items, total }: { readonly items: readonly Job[]; readonly total: number },
  surface: Surface,
  isOfDead = false,
): string[] {
  const { style } = surface;
  if (items.length === 0) return [style.dim(isOfDead ? "No job is dead." : "No job is queued or running.")];
  const rows = items.map((job) => [
    // The end of an id: its start is the time, which jobs of the same period share.
    job.id.slice(-8),
    renderJobState(job.state, style),
    oneLine(job.agent),
    oneLine(job.name),
    dayAndTime(job.failed ?? job.dispatched),
    job.priority === "normal" ? "" : job.priority,
    jobStatus(job),
  ]);
  const columns = [
    { title: "Id" },
    { title: "State" },
    { title: "Agent" },
    { title: "Job" },
    { title: isOfDead ? "Died" : "Dispatched" },
    { title: "Priority" },
    { title: "Status", flexible: true },
  ];
  const left = total - items.length;
  return [
    ...renderTable(columns, rows, surface),
    ...(left > 0 ? [style.dim(`… and ${counted(left, "more job")}`)] : []),
  ];
}

/** Renders what became of a dead job. */
export function renderDeadJob({ agent, name, state }: Job, { style }: Surface): string {
  const what = `${style.bold(oneLine(name))}  ${style.dim(oneLine(agent))}`;
  return state === "Dead"
    ? `${style.yellow("✗")} removed  ${what}`
    : `${style.green("✓")} runs again  ${what}`;
}

/** Renders the result of a cancellation. */
export function renderCancelledJob({ agent, name, state }: Job, { style }: Surface): string {
  const what = `${style.bold(oneLine(name))}  ${style.dim(oneLine(agent))}`;
  const rest = state === "Cancelling" ? ": its agent was asked to stop it" : ": it had not started";
  return `${style.yellow("✗")} cancelled  ${what}${style.dim(rest)}`;
}

function jobStatus(job: Job): string {
  if (job.error !== undefined) return oneLine(job.error);
  const words = job.state === "Waiting" ? jobWaitsFor(job, (time) => `at ${dayAndTime(time)}`) : "";
  const saved = job.state === "Waiting" && job.checkpoint ? "continues from its checkpoint" : "";
  return [jobProgressWords(job, oneLine), words, saved].filter((part) => part !== "").join(", ");
}
