import type { Job } from "./job.ts";

/** Returns when a job continues, for people; `until` formats the time. Empty if it only waits for its turn. */
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

/**
 * Returns "40 %" or "40 % · the job's own text", or an empty text if the job reported no progress. `plain` makes the
 * extension's text safe to show.
 */
export function jobProgressWords(
  { progress }: Pick<Job, "progress">,
  plain: (text: string) => string,
): string {
  if (progress === undefined) return "";
  const words = plain(progress.message ?? "");
  return [`${Math.floor(progress.fraction * 100)} %`, ...(words === "" ? [] : [words])].join(" · ");
}
