import {
  exitCodes,
  folderAndVerb,
  folderNamed,
  UsageError,
  withReadyKernel,
  type CommandContext,
} from "../command.ts";
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
  return withReadyKernel(context, { folder: await folderNamed(folder) }, async (kernel) => {
    const { terminal } = context;
    const shown =
      verb === "list" || id === undefined ? await kernel.agents() : [await kernel.control(id, verb, hook)];
    if (json === true) terminal.json(shown);
    else terminal.print(renderAgents(shown, terminal.surface));
    return exitCodes.ok;
  });
}
