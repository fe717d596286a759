import {
  traceLevels,
  type TraceEntry,
  type TraceLevel,
  type TraceQuery,
} from "../../base/vocabulary/trace.ts";
import { exitCodes, folderNamed, UsageError, withReadyKernel, type CommandContext } from "../command.ts";
import { sinceTime } from "../durations.ts";
import type { KernelClient } from "../kernel-client.ts";
import { agentIdOf } from "../one-named.ts";
import { renderTrace } from "../render/trace.ts";

interface TracesOptions {
  readonly follow?: boolean;
  readonly agent?: string;
  readonly level?: string;
  readonly since?: string;
  readonly text?: string;
  readonly limit?: string;
  readonly json?: boolean;
}

const defaultLimit = 100;

export async function traces(
  context: CommandContext,
  folder: string,
  options: TracesOptions,
): Promise<number> {
  const wanted = queryOf(options);
  return withReadyKernel(context, { folder: await folderNamed(folder) }, async (kernel) => {
    const agent = await agentIdOf(kernel, options.agent);
    const query = agent === undefined ? wanted : { ...wanted, agent };
    const { terminal } = context;
    const how = { withDay: options.follow !== true, isWhole: !terminal.isTerminal };
    const show = (entry: TraceEntry): void => {
      if (options.json === true) terminal.json(entry);
      else terminal.print(renderTrace(entry, terminal.surface, how));
    };
    if (options.follow === true) return follow(context, kernel, query, show);
    const entries = await terminal.progress("reading traces", kernel.traces(query));
    // Queried newest first, so that the limit keeps the newest; shown in the order in which they happened.
    for (const entry of entries.toReversed()) show(entry);
    if (entries.length === 0 && options.json !== true) terminal.warn("No trace matches.");
    return exitCodes.ok;
  });
}

async function follow(
  { terminal }: CommandContext,
  kernel: KernelClient,
  query: TraceQuery,
  show: (entry: TraceEntry) => void,
): Promise<number> {
  const { agent, level, text } = query;
  let subscription: string | undefined;
  const early: { subscription: string; entry: TraceEntry }[] = [];
  const take = (entry: TraceEntry): void => {
    if (text === undefined || entry.message.toLowerCase().includes(text.toLowerCase())) show(entry);
  };
  using _listening = kernel.on("lares/traces/entry", (news) => {
    if (subscription === undefined) early.push(news);
    else if (news.subscription === subscription) take(news.entry);
  });
  ({ subscription } = await kernel.follow({
    ...(agent === undefined ? {} : { agent }),
    ...(level === undefined ? {} : { level }),
  }));
  for (const news of early) if (news.subscription === subscription) take(news.entry);
  const ended = await Promise.race([kernel.closed, aborted(terminal.interrupted)]);
  if (ended === undefined) return exitCodes.ok;
  terminal.warn(`The connection to the kernel was lost: ${ended.reason}`);
  return exitCodes.failed;
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}

function queryOf({ agent, level, since, text, limit }: TracesOptions): TraceQuery {
  if (level !== undefined && !isLevel(level))
    throw new UsageError(`--level cannot be "${level}". Use one of ${traceLevels.join(", ")}.`);
  const count = limit === undefined ? defaultLimit : Number(limit);
  if (!Number.isInteger(count) || count < 1)
    throw new UsageError(`--limit cannot be "${limit}". Use a whole number of at least 1.`);
  return {
    limit: count,
    ...(agent === undefined ? {} : { agent }),
    ...(level === undefined ? {} : { level }),
    ...(since === undefined ? {} : { since: sinceTime(since, Date.now()) }),
    ...(text === undefined ? {} : { text }),
  };
}

function isLevel(level: string): level is TraceLevel {
  return traceLevels.some((known) => known === level);
}
