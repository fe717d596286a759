import type { Job } from "./job.ts";

/** Returns when a job goes on, in words for a person; `until` says when that is. Empty where it is just not its turn yet. */
export function jobWaitsFor(
  { when_idle, due, attempt }: Pick<Job, "when_idle" | "due" | "attempt">,
  until: (timestamp: string) => string,
): string {
  const waits = [
    ...(due === undefined ? [] : [`is tried again ${until(due)}`]),
    ...(when_idle ? ["starts when the workspace is quiet"] : []),
  ];
  return [...waits, ...(attempt > 1 ? [`attempt ${attempt}`] : [])].join(", ");
}

/** "40 %", "40 % · a word of the job's own"; empty where it has said nothing. `plain` makes a stranger's words harmless. */
export function jobProgressWords(
  { progress }: Pick<Job, "progress">,
  plain: (text: string) => string,
): string {
  if (progress === undefined) return "";
  const words = plain(progress.message ?? "");
  return [`${Math.floor(progress.fraction * 100)} %`, ...(words === "" ? [] : [words])].join(" · ");
}
