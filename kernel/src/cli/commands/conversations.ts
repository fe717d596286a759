import type { Conversation } from "../../base/vocabulary/conversation.ts";
import {
  type CommandContext,
  exitCodes,
  folderAndVerb,
  folderNamed,
  requireConfirmation,
  UsageError,
  withReadyKernel,
} from "../command.ts";
import type { KernelClient } from "../kernel-client.ts";
import { choicesOf, conversationNamed } from "../chat/choices.ts";
import { titleOf } from "../chat/state/choices.ts";
import { renderChain } from "../render/chain.ts";
import { renderConversations } from "../render/chat/conversations.ts";
import { oneLine } from "../render/foreign.ts";

export interface ConversationsOptions {
  readonly all?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

const verbs = ["list", "verify", "delete"] as const;

/** Lists conversations, proves their logs, or deletes one. `verify` exits with 1 if a chain is broken, for scripts. */
export async function conversations(
  context: CommandContext,
  words: readonly string[],
  options: ConversationsOptions,
): Promise<number> {
  const { folder, verb, rest } = folderAndVerb(words, verbs, "list");
  const [given, ...more] = rest;
  if (more.length > 0) throw new UsageError(`Only one id is allowed. Remove ${more.join(" ")}.`);
  if (verb === "list" && given !== undefined) throw new UsageError(`"list" takes no id. Remove "${given}".`);
  if (verb !== "list" && options.all === true) throw new UsageError('--all goes with "list".');
  if (verb !== "delete" && options.yes === true) throw new UsageError('--yes goes with "delete".');
  if (verb === "delete" && given === undefined)
    throw new UsageError('An id is missing. Write lares conversations delete <id>; "list" shows the ids.');
  if (verb === "delete") requireConfirmation(context.terminal, options, "Deleting a conversation");
  return withReadyKernel(context, { folder: await folderNamed(folder) }, async (kernel) => {
    if (verb === "list") return list(context, kernel, options);
    if (verb === "verify")
      return verify(
        context,
        kernel,
        given === undefined ? null : await conversationNamed(kernel, given),
        options,
      );
    return remove(context, kernel, await conversationNamed(kernel, given ?? ""), options);
  });
}

async function list(
  { terminal }: CommandContext,
  kernel: KernelClient,
  { all, json }: ConversationsOptions,
): Promise<number> {
  const state = all === true ? {} : { state: "open" as const };
  if (json === true) {
    for (const conversation of await kernel.allConversations(state)) terminal.json(conversation);
    return exitCodes.ok;
  }
  const choices = await choicesOf(kernel, await kernel.agents(), state);
  terminal.print(renderConversations(choices, terminal.surface));
  return exitCodes.ok;
}

async function verify(
  { terminal }: CommandContext,
  kernel: KernelClient,
  one: Conversation | null,
  { json }: ConversationsOptions,
): Promise<number> {
  const minds = one === null ? (await kernel.agents()).filter(({ mind }) => mind !== undefined) : [];
  const logs = [
    ...(one === null ? await kernel.allConversations({}) : [one]).map((conversation) => ({
      whose: { id: conversation.id },
      name: `${conversation.id.slice(-8)}  ${titleOf(conversation)}`,
    })),
    ...minds.map(({ id: agent }) => ({ whose: { agent }, name: `the mind of ${agent}` })),
  ];
  if (logs.length === 0 && json !== true)
    terminal.print(terminal.surface.style.dim("There is no conversation here."));
  let allSound = true;
  for (const { whose, name } of logs) {
    const found = await terminal.progress(`verifying ${oneLine(name)}`, kernel.verifyConversation(whose));
    allSound &&= found.ok;
    if (json === true) terminal.json({ ...whose, ...found });
    else terminal.print(renderChain(name, found, terminal.surface));
  }
  return allSound ? exitCodes.ok : exitCodes.failed;
}

async function remove(
  { terminal }: CommandContext,
  kernel: KernelClient,
  conversation: Conversation,
  { yes, json }: ConversationsOptions,
): Promise<number> {
  if (yes !== true) {
    terminal.print([
      `Deletes "${titleOf(conversation)}", with all that was said in it. It cannot be recovered.`,
      "What the agent has remembered of it stays in its memory: see lares memory.",
    ]);
    if (!(await terminal.confirm("Delete it?"))) {
      terminal.warn("Nothing was deleted.");
      return exitCodes.failed;
    }
  }
  const done = await terminal.progress("deleting", kernel.deleteConversation(conversation.id));
  if (json === true) terminal.json({ id: conversation.id, ...done });
  else {
    const { style } = terminal.surface;
    const kept = done.kept_for_forks ? "; what its forks have of it stays until they are deleted" : "";
    terminal.print(`${style.green("✓")} deleted${kept}`);
  }
  return exitCodes.ok;
}
