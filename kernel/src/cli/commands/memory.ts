import { didYouMean } from "../../base/suggest.ts";
import {
  type CommandContext,
  exitCodes,
  folderAndVerb,
  folderNamed,
  UsageError,
  withReadyKernel,
} from "../command.ts";
import type { KernelClient, MemoryOwner } from "../kernel-client.ts";
import {
  type Count,
  type Events,
  type Hits,
  type Items,
  renderCount,
  renderEvents,
  renderHits,
  renderItems,
  renderWorking,
  type Working,
} from "../render/memory.ts";
import { agentIdOf, agentNamed } from "../one-named.ts";
import { renderChain } from "../render/chain.ts";
import { renderStats } from "../render/memory-stats.ts";
import { type QueryOptions, questionOf } from "./memory-query.ts";
import { memoryNamed } from "./name-memory.ts";
import { correct, exportTo, forget, importFrom, type TransferOptions } from "./memory-transfer.ts";
import { selectMemories, nameOf, sharedMemory } from "./select-memory.ts";

interface MemoryOptions extends QueryOptions, TransferOptions {
  readonly agent?: string;
  readonly namespace?: string;
  readonly all?: boolean;
}

const verbs = ["stats", "query", "verify", "export", "import", "correct", "forget"] as const;

/** `verify` exits with 1 if a chain is broken, for scripts. */
export async function memory(
  context: CommandContext,
  words: readonly string[],
  options: MemoryOptions,
): Promise<number> {
  const { folder: before, verb, rest } = folderAndVerb(words, verbs, "verify");
  if (verb === "verify" || verb === "stats") {
    const { folder = before, agent: given } = placeAndAgent(rest, options);
    return withReadyKernel(context, { folder: await folderNamed(folder) }, async (kernel) => {
      const agent = await agentIdOf(kernel, given);
      const memories = await selectMemories(kernel, agent, options.namespace);
      if (memories.length === 0 && options.json !== true)
        context.terminal.print(context.terminal.surface.style.dim("No agent has a memory here."));
      return verb === "verify"
        ? verify(context, kernel, memories, options)
        : stats(context, kernel, memories, options);
    });
  }
  const { namespace } = options;
  if (namespace !== undefined) {
    if (verb !== "query" && verb !== "export")
      throw new UsageError(
        `--namespace has no effect on ${verb}. Use it with query, stats, verify or export.`,
      );
    return withReadyKernel(context, { folder: await folderNamed(before) }, async (kernel) => {
      const shared = await sharedMemory(kernel, namespace, await agentIdOf(kernel, options.agent));
      return verb === "query"
        ? query(context, kernel, shared, rest, options)
        : exportTo(context, kernel, shared, only(rest, "file", verb), options);
    });
  }
  return withReadyKernel(context, { folder: await folderNamed(before) }, async (kernel) => {
    const { agent, words: left } = await agentFor(kernel, verb, rest, options.agent);
    switch (verb) {
      case "query":
        return query(context, kernel, { agent }, left, options);
      case "export":
        return exportTo(context, kernel, { agent }, only(left, "file", verb), options);
      case "import":
        return importFrom(context, kernel, agent, only(left, "file", verb), options);
      case "correct":
        return correct(context, kernel, agent, left, options);
      case "forget":
        return forget(context, kernel, agent, only(left, "id", verb), options);
    }
  });
}

/** A word with a slash is the folder, any other is the agent. */
function placeAndAgent(
  words: readonly string[],
  { agent, all, namespace }: MemoryOptions,
): { folder?: string; agent?: string } {
  const isFolder = (word: string): boolean => /[/\\]/.test(word) || word === "." || word === "..";
  const folders = words.filter(isFolder);
  const agents = [...words.filter((word) => !isFolder(word)), ...(agent === undefined ? [] : [agent])];
  if (folders.length > 1 || agents.length > 1)
    throw new UsageError(`Name at most one folder and one agent, not ${words.join(" ")}.`);
  if (all === true && (agents.length > 0 || namespace !== undefined))
    throw new UsageError("--all cannot be combined with the name of a memory. Use one of them.");
  return {
    ...(folders[0] === undefined ? {} : { folder: folders[0] }),
    ...(agents[0] === undefined ? {} : { agent: agents[0] }),
  };
}

/** Returns the agent: the named one, or the only one; and the remaining words. */
async function agentFor(
  kernel: KernelClient,
  verb: "query" | "export" | "import" | "correct" | "forget",
  words: readonly string[],
  named: string | undefined,
): Promise<{ agent: string; words: readonly string[] }> {
  const agents = await kernel.agents();
  const ids = agents.map(({ id }) => id);
  const isKnown = (id: string): boolean => ids.includes(id);
  const [first, ...rest] = words;
  // Two words where one is expected: the first one is the agent, known or not.
  const hasText = verb === "query" || verb === "correct";
  const isMeant = first !== undefined && (isKnown(first) || (!hasText && words.length === 2));
  const given = named ?? (isMeant ? first : undefined);
  if (given !== undefined) {
    const left = named === undefined ? rest : words;
    if (isKnown(given)) return { agent: given, words: left };
    const isCalledSo = agents.some(({ id, name }) => id.endsWith(`.${given}`) || name === given);
    if (isCalledSo) return { agent: agentNamed(agents, given).id, words: left };
    throw new UsageError(
      `There is no agent "${given}" here${didYouMean(given, ids) || '. "lares agents" lists the ids.'}`,
    );
  }
  const possible = verb === "import" ? agents : agents.filter(({ metrics }) => metrics.memory_size_bytes > 0);
  const [only, other] = possible;
  if (only === undefined)
    throw new UsageError(
      agents.length === 0 ? "There is no agent here." : "No agent has remembered anything here yet.",
    );
  if (other !== undefined) {
    const names = possible.map(({ id }) => id).join(", ");
    throw new UsageError(`Which agent? There are ${names}. Write: lares memory ${verb} <agent> …`);
  }
  return { agent: only.id, words };
}

function only(words: readonly string[], what: string, verb: string): string {
  const [word, ...more] = words;
  if (word === undefined || more.length > 0)
    throw new UsageError(`Which ${what}? lares memory ${verb} [agent] <${what}>`);
  return word;
}

async function verify(
  { terminal }: CommandContext,
  kernel: KernelClient,
  memories: readonly MemoryOwner[],
  { json }: MemoryOptions,
): Promise<number> {
  let allSound = true;
  for (const whose of memories) {
    const name = nameOf(whose);
    const result = await terminal.progress(`verifying ${name}`, kernel.verifyMemory(whose));
    allSound &&= result.ok;
    if (json === true) terminal.json({ ...whose, ...result });
    else terminal.print(renderChain(name, result, terminal.surface));
  }
  return allSound ? exitCodes.ok : exitCodes.failed;
}

async function stats(
  { terminal }: CommandContext,
  kernel: KernelClient,
  memories: readonly MemoryOwner[],
  { json }: MemoryOptions,
): Promise<number> {
  for (const whose of memories) {
    const name = nameOf(whose);
    const found = await terminal.progress(`measuring ${name}`, kernel.memoryStats(whose));
    if (json === true) terminal.json({ ...whose, ...found });
    else terminal.print(renderStats(name, found, terminal.surface));
  }
  return exitCodes.ok;
}

async function query(
  { terminal }: CommandContext,
  kernel: KernelClient,
  whose: MemoryOwner,
  words: readonly string[],
  given: MemoryOptions,
): Promise<number> {
  const { related } = given;
  const options =
    related === undefined
      ? given
      : { ...given, related: (await memoryNamed(kernel, whose, related, { events: false })).id };
  const question = questionOf(words, options, Date.now());
  const answer = await terminal.progress(`asking ${nameOf(whose)}`, kernel.askMemory(whose, question));
  const { surface } = terminal;
  if (options.json === true) terminal.json(answer);
  else if (question.method === "lares/memory/count")
    terminal.print(renderCount(answer as Count, options.by, surface));
  else {
    switch (question.params.kind) {
      case "temporal":
        terminal.print(renderEvents(answer as Events, surface));
        break;
      case "associative":
        terminal.print(renderItems(answer as Items, surface));
        break;
      case "working":
        terminal.print(renderWorking(answer as Working, surface));
        break;
      case "search":
        terminal.print(renderHits(answer as Hits, surface));
        break;
    }
  }
  return exitCodes.ok;
}
