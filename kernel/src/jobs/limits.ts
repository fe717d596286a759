import { limitExceeded } from "../base/errors.ts";
import type { JobLine } from "./line.ts";

/** Bounds on the unfinished jobs of one agent; sizes in bytes of JSON. */
export const jobLimits = {
  waiting: 10_000,
  inputBytes: 256 * 1024,
  checkpointBytes: 256 * 1024,
  allBytes: 64 * 1024 * 1024,
} as const;

export function refuseTooLarge(what: "input" | "checkpoint", bytes: number, allowed: number): void {
  if (bytes <= allowed) return;
  throw limitExceeded(
    `job_${what}_bytes`,
    bytes,
    `The job's ${what} has ${bytes} bytes of JSON; at most ${allowed} are kept. Put larger data into memory or a file, and pass its path.`,
  );
}

export function refuseTooMany(agent: string, { size }: JobLine): void {
  if (size < jobLimits.waiting) return;
  throw limitExceeded(
    "waiting_jobs",
    size,
    `${size} jobs of ${agent} are already waiting. Dispatch more when some have ended.`,
  );
}

export function refuseTooMuch(agent: string, bytes: number): void {
  if (bytes <= jobLimits.allBytes) return;
  throw limitExceeded(
    "job_bytes",
    bytes,
    `The unfinished jobs of ${agent} would have ${bytes} bytes of input and checkpoints; at most ${jobLimits.allBytes} are kept.`,
  );
}
