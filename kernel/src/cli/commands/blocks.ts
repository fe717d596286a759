import {
  type CommandContext,
  exitCodes,
  folderAndVerb,
  folderNamed,
  requireConfirmation,
  UsageError,
  withReadyKernel,
} from "../command.ts";
import type { Block } from "../../base/vocabulary/conversation-requests.ts";
import type { KernelClient } from "../kernel-client.ts";
import { conversationNamed } from "../chat/choices.ts";
import { agentNamed } from "../one-named.ts";
import { manyLines, oneLine } from "../render/foreign.ts";

export interface BlocksOptions {
  readonly agent?: string;
  readonly conversation?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

const verbs = ["list", "edit", "forget"] as const;

/** Shows the blocks of a mind, writes one, or removes what one says for good. */
export async function blocks(
  context: CommandContext,
  words: readonly string[],
  options: BlocksOptions,
): Promise<number> {
  const { folder, verb, rest } = folderAndVerb(words, verbs, "list");
  const [name, ...texts] = rest;
  if (verb === "list" && name !== undefined) throw new UsageError(`"list" takes no name. Remove "${name}".`);
  if (verb !== "list" && name === undefined)
    throw new UsageError(`Which block? lares blocks ${verb} <name>${verb === "edit" ? " <text>" : ""}`);
  if (verb === "edit" && texts.length === 0)
    throw new UsageError("What does it say from now on? lares blocks edit <name> <text>");
  if (verb === "forget" && texts.length > 0) throw new UsageError(`Remove "${texts.join(" ")}".`);
  if (verb === "forget") requireConfirmation(context.terminal, options, "Forgetting a block");
  return withReadyKernel(context, { folder: await folderNamed(folder) }, async (kernel) => {
    const { terminal } = context;
    const agent = await mindNamed(kernel, options.agent);
    const of =
      options.conversation === undefined
        ? {}
        : { id: (await conversationNamed(kernel, options.conversation)).id };
    if (verb === "list") {
      const { items } = await kernel.blocks({ agent, ...of });
      if (options.json === true) terminal.json({ agent, items });
      else terminal.print(lines(items, terminal.surface.style));
      return exitCodes.ok;
    }
    if (verb === "forget" && options.yes !== true) {
      terminal.print([
        `Removes what the block ${oneLine(name ?? "")} says and said, also from the conversations that were told; those of other minds too, if they share it. It cannot be recovered.`,
      ]);
      if (!(await terminal.confirm("Forget it?"))) {
        terminal.warn("Nothing was forgotten.");
        return exitCodes.failed;
      }
    }
    const edit = { agent, ...of, name: name ?? "", text: texts.join(" ") };
    const block = await kernel.editBlock(verb === "forget" ? { ...edit, forget: true } : edit);
    if (options.json === true) terminal.json(block);
    else
      terminal.print(
        `${terminal.surface.style.green("✓")} ${verb === "forget" ? "forgotten" : "written"}: ${oneLine(block.name)}`,
      );
    return exitCodes.ok;
  });
}

function lines(
  items: Awaited<ReturnType<KernelClient["blocks"]>>["items"],
  style: CommandContext["terminal"]["surface"]["style"],
): string[] {
  if (items.length === 0) return [style.dim("The mind has no block for all its conversations.")];
  return items.flatMap((block) => {
    const { name, description, text, limit, sources = [], absent } = block;
    return [
      `${oneLine(name)}  ${style.dim(`${oneLine(description)}; ${readersOf(block)}; ${text.length} of ${limit} characters`)}`,
      ...(sources.length === 0 ? [] : [style.dim(`  made from ${sources.map(oneLine).join(", ")}`)]),
      ...(absent !== undefined
        ? [style.yellow(`  (absent: ${oneLine(absent)})`)]
        : text === ""
          ? [style.dim("  (empty)")]
          : manyLines(text).map((line) => `  ${line}`)),
    ];
  });
}

function readersOf({ scope, namespace }: Block): string {
  if (namespace !== undefined) return `shared in ${oneLine(namespace)}`;
  return scope === "mind" ? "all conversations" : "this conversation";
}

async function mindNamed(kernel: KernelClient, named: string | undefined): Promise<string> {
  const agents = (await kernel.agents()).filter(({ mind }) => mind !== undefined);
  if (named !== undefined) return agentNamed(agents, named).id;
  const minds = agents.map(({ id }) => id);
  const [only, other] = minds;
  if (only === undefined) throw new UsageError("No agent here has a mind.");
  if (other !== undefined) throw new UsageError(`Which agent? Add --agent with one of ${minds.join(", ")}.`);
  return only;
}
