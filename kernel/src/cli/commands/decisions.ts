import type { Decision } from "../../base/vocabulary/approval-rule.ts";
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
import { renderDecisions, renderRevoked } from "../render/decisions.ts";

interface DecisionsOptions {
  readonly json?: boolean;
}

/** Lists the person's "always" decisions and the schedules of minds that they accepted, or revokes one of them. */
export async function decisions(
  context: CommandContext,
  words: readonly string[],
  { json }: DecisionsOptions,
): Promise<number> {
  const { terminal } = context;
  const { folder, verb, rest } = folderAndVerb(words, ["list", "revoke"], "list");
  const [given, ...more] = rest;
  if (more.length > 0) throw new UsageError(onlyOne(more));
  if (verb === "revoke" && given === undefined)
    throw new UsageError(
      'An id is missing. Write lares decisions revoke <id>; "lares decisions" lists the ids.',
    );
  if (verb === "list" && given !== undefined) throw new UsageError(`"list" takes no id. Remove "${given}".`);
  return withReadyKernel(context, { folder: await folderNamed(folder) }, async (kernel) => {
    if (given === undefined) {
      const found = await kernel.decisions();
      if (json === true) terminal.json(found);
      else terminal.print(renderDecisions(found.items, terminal.surface));
      return exitCodes.ok;
    }
    const revoked = await kernel.revokeDecision((await find(kernel, given)).id);
    if (json === true) terminal.json(revoked);
    else terminal.print(renderRevoked(revoked, terminal.surface));
    return exitCodes.ok;
  });
}

async function find(kernel: KernelClient, given: string): Promise<Decision> {
  return oneNamed((await kernel.decisions()).items, given, {
    noun: "decision",
    nouns: "decisions",
    listing: "lares decisions",
    id: ({ id }) => id,
    title: ({ title }) => title,
  });
}
