import {
  exitCodes,
  folderAndVerb,
  folderNamed,
  UsageError,
  withReadyKernel,
  type CommandContext,
} from "../command.ts";
import { agentNamed } from "../one-named.ts";
import { warnOfFaults } from "../run/faults.ts";
import { renderAgents } from "../render/agents.ts";

const verbs = ["list", "enable", "disable", "suspend", "resume", "reload"] as const;

export async function agents(
  context: CommandContext,
  words: readonly string[],
  { json, hook: given }: { readonly json?: boolean; readonly hook?: string },
): Promise<number> {
  const { folder, verb, rest } = folderAndVerb(words, verbs, "list");
  const [id] = rest;
  if (given !== undefined && verb !== "resume") throw new UsageError('--hook goes with "resume".');
  if (given !== undefined && !/^\d{1,4}$/.test(given))
    throw new UsageError(`"${given}" is not the number of a hook. lares agents shows it.`);
  const hook = given === undefined ? undefined : Number(given);
  if (verb !== "list" && id === undefined) throw new UsageError(`Which agent? lares agents ${verb} <id>`);
  const place = await folderNamed(folder);
  return withReadyKernel(context, { folder: place }, async (kernel) => {
    const { terminal } = context;
    const known = await kernel.agents();
    const shown =
      verb === "list" || id === undefined
        ? known
        : [await kernel.control(agentNamed(known, id).id, verb, hook)];
    if (json === true) terminal.json(shown);
    else {
      // Agents of a faulty document are missing from the list, or are those of its last correct version.
      const faults = verb === "list" ? await warnOfFaults(context, place) : 0;
      if (shown.length > 0 || faults === 0) terminal.print(renderAgents(shown, terminal.surface));
    }
    return exitCodes.ok;
  });
}
