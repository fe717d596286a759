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
  { json }: { readonly json?: boolean },
): Promise<number> {
  const { folder, verb, rest } = folderAndVerb(words, verbs, "list");
  const [id] = rest;
  if (verb !== "list" && id === undefined) throw new UsageError(`Which agent? lares agents ${verb} <id>`);
  return withReadyKernel(context, { folder: await folderNamed(folder) }, async (kernel) => {
    const { terminal } = context;
    const shown =
      verb === "list" || id === undefined ? await kernel.agents() : [await kernel.control(id, verb)];
    if (json === true) terminal.json(shown);
    else terminal.print(renderAgents(shown, terminal.surface));
    return exitCodes.ok;
  });
}
