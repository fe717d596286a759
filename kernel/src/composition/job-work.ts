import type { JobOutcome, JobProgress } from "../agents/ports.ts";
import { plainLine } from "../base/plain-text.ts";
import type { WorkProgress } from "../server/ports.ts";

const outcomes: Readonly<Record<JobOutcome, string>> = {
  completed: "done",
  failed: "failed",
  interrupted: "goes on later",
};

/** A job as a person sees its progress; what its program calls it is a stranger's word. */
export function workOfJob(told: JobProgress): WorkProgress {
  const work = `job ${told.id}`;
  if (told.kind === "begin")
    return { work, kind: "begin", title: plainLine(`Lares: ${told.name} (${told.agent})`) };
  if (told.kind === "end") return { work, kind: "end", message: outcomes[told.outcome] };
  const percentage = Math.floor(told.fraction * 100);
  return { work, kind: "report", message: plainLine(told.message ?? `${percentage} %`), percentage };
}
