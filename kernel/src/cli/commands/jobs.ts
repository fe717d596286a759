import type { Job } from "../../base/vocabulary/job.ts";
import {
  exitCodes,
  folderAndVerb,
  folderNamed,
  UsageError,
  withReadyKernel,
  type CommandContext,
} from "../command.ts";
import type { KernelClient } from "../kernel-client.ts";
import { agentIdOf, isWholeId, oneNamed, onlyOne } from "../one-named.ts";
import { renderCancelledJob, renderDeadJob, renderJobs } from "../render/jobs.ts";

interface JobsOptions {
  readonly agent?: string;
  readonly dead?: boolean;
  readonly json?: boolean;
}

const verbs = ["list", "cancel", "retry", "remove"] as const;

/** The number of jobs that are listed, and searched for an abbreviated id: as many as the kernel returns at once. */
const listLimit = 1000;

export async function jobs(
  context: CommandContext,
  words: readonly string[],
  options: JobsOptions,
): Promise<number> {
  const { folder, verb, rest } = folderAndVerb(words, verbs, "list");
  const [given, ...more] = rest;
  if (more.length > 0) throw new UsageError(onlyOne(more));
  if (verb !== "list" && given === undefined) {
    const listing = verb === "cancel" ? "lares jobs" : "lares jobs --dead";
    throw new UsageError(`An id is missing. Write lares jobs ${verb} <id>; "${listing}" lists the ids.`);
  }
  if (verb === "list" && given !== undefined) throw new UsageError(`"list" takes no id. Remove "${given}".`);
  return withReadyKernel(context, { folder: await folderNamed(folder) }, (kernel) =>
    given === undefined
      ? list(context, kernel, options)
      : verb === "cancel"
        ? cancel(context, kernel, given, options)
        : ofDead(context, kernel, verb === "retry" ? "retryJob" : "removeJob", given, options),
  );
}

async function list(
  { terminal }: CommandContext,
  kernel: KernelClient,
  { agent: given, dead, json }: JobsOptions,
): Promise<number> {
  const agent = await agentIdOf(kernel, given);
  const found = await kernel.jobs({
    limit: listLimit,
    ...(agent === undefined ? {} : { agent }),
    ...(dead === true ? { state: "dead" } : {}),
  });
  if (json === true) terminal.json(found);
  else terminal.print(renderJobs(found, terminal.surface, dead === true));
  return exitCodes.ok;
}

async function ofDead(
  { terminal }: CommandContext,
  kernel: KernelClient,
  act: "retryJob" | "removeJob",
  given: string,
  { json }: JobsOptions,
): Promise<number> {
  const id = isWholeId(given) ? given : (await find(kernel, given, "dead")).id;
  const job = await kernel[act](id);
  if (json === true) terminal.json(job);
  else terminal.print(renderDeadJob(job, terminal.surface));
  return exitCodes.ok;
}

async function cancel(
  { terminal }: CommandContext,
  kernel: KernelClient,
  given: string,
  { agent, json }: JobsOptions,
): Promise<number> {
  const id = isWholeId(given) ? given : (await find(kernel, given)).id;
  const job = await kernel.cancelJob(id, agent);
  if (json === true) terminal.json(job);
  else terminal.print(renderCancelledJob(job, terminal.surface));
  return exitCodes.ok;
}

async function find(kernel: KernelClient, given: string, state?: "dead"): Promise<Job> {
  const { items } = await kernel.jobs({ limit: listLimit, ...(state === undefined ? {} : { state }) });
  return oneNamed(items, given, {
    noun: state === "dead" ? "dead job" : "open job",
    nouns: state === "dead" ? "dead jobs" : "open jobs",
    listing: state === "dead" ? "lares jobs --dead" : "lares jobs",
    id: ({ id }) => id,
    title: ({ name }) => name,
  });
}
