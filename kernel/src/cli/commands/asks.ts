import type { Ask } from "../../base/vocabulary/ask.ts";
import {
  exitCodes,
  folderAndVerb,
  folderNamed,
  UsageError,
  withReadyKernel,
  type CommandContext,
} from "../command.ts";
import type { KernelClient } from "../kernel-client.ts";
import { oneNamed, onlyOne } from "../one-named.ts";
import { renderAnswered, renderAsks } from "../render/asks.ts";

interface AsksOptions {
  readonly always?: boolean;
  readonly all?: boolean;
  readonly json?: boolean;
}

/** Lists the questions that calls wait for, or answers one of them. */
export async function asks(
  context: CommandContext,
  words: readonly string[],
  { always, all, json }: AsksOptions,
): Promise<number> {
  const { terminal } = context;
  const { folder, verb, rest } = folderAndVerb(words, ["list", "allow", "deny"], "list");
  const [given, ...more] = rest;
  if (more.length > 0) throw new UsageError(onlyOne(more));
  if (verb === "list" && given !== undefined) throw new UsageError(`"list" takes no id. Remove "${given}".`);
  if (verb === "list" && always === true) throw new UsageError('--always goes with "allow" or "deny".');
  if (verb !== "list" && all === true) throw new UsageError('--all goes with "list".');
  if (verb !== "list" && given === undefined)
    throw new UsageError(`An id is missing. Write lares asks ${verb} <id>; "lares asks" lists the ids.`);
  return withReadyKernel(context, { folder: await folderNamed(folder) }, async (kernel) => {
    if (given === undefined) {
      const found = await kernel.asks(all === true ? undefined : "Pending");
      if (json === true) terminal.json(found);
      else terminal.print(renderAsks(found, terminal.surface));
      return exitCodes.ok;
    }
    const { id, digest } = await find(kernel, given);
    const answered = await kernel.answerAsk(id, {
      digest,
      allow: verb === "allow",
      ...(always === true ? { remember: "always" } : {}),
    });
    if (json === true) terminal.json(answered);
    else terminal.print(renderAnswered(answered, terminal.surface));
    return exitCodes.ok;
  });
}

async function find(kernel: KernelClient, given: string): Promise<Ask> {
  return oneNamed(await kernel.asks("Pending"), given, {
    noun: "question that waits",
    nouns: "questions",
    listing: "lares asks",
    id: ({ id }) => id,
    title: ({ title }) => title,
  });
}
