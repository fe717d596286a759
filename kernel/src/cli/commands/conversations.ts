import { isLaresError } from "../../base/errors.ts";
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
import { onlyOne } from "../one-named.ts";
import { choicesOf, conversationNamed } from "../chat/choices.ts";
import { entryNamed } from "../chat/entries.ts";
import { whyAnswered } from "../chat/known.ts";
import { titleOf } from "../chat/state/choices.ts";
import { renderChain } from "../render/chain.ts";
import { renderConversations } from "../chat/render/conversations.ts";
import { redactionLines, derivedLines } from "../chat/render/redaction.ts";
import { readHidden } from "../prompts/hidden-text.ts";
import { knownLines } from "../chat/render/known.ts";
import { oneLine } from "../render/foreign.ts";

export interface ConversationsOptions {
  readonly all?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
  readonly entry?: string;
  readonly withDerived?: boolean;
}

const maxTextBytes = 10_000;

const verbs = ["list", "why", "verify", "redact", "delete"] as const;

/** Lists conversations, says what an answer rests on, proves their logs, removes a text from one, or deletes one. `verify` exits with 1 if a chain is broken, for scripts. */
export async function conversations(
  context: CommandContext,
  words: readonly string[],
  options: ConversationsOptions,
): Promise<number> {
  const { folder, verb, rest } = folderAndVerb(words, verbs, "list");
  const [given, ...more] = rest;
  if (more.length > 0) throw new UsageError(onlyOne(more));
  if (verb === "list" && given !== undefined) throw new UsageError(`"list" takes no id. Remove "${given}".`);
  if (verb !== "list" && options.all === true) throw new UsageError('--all goes with "list".');
  const changes = verb === "delete" || verb === "redact";
  if (!changes && options.yes === true) throw new UsageError('--yes goes with "delete" and "redact".');
  if (verb !== "redact" && verb !== "why" && options.entry !== undefined)
    throw new UsageError('--entry goes with "why" and "redact".');
  if (verb !== "redact" && options.withDerived === true)
    throw new UsageError('--with-derived goes with "redact".');
  if ((changes || verb === "why") && given === undefined)
    throw new UsageError(`An id is missing. Write lares conversations ${verb} <id>; "list" shows the ids.`);
  if (verb === "delete") requireConfirmation(context.terminal, options, "Deleting a conversation");
  if (verb === "redact") requireConfirmation(context.terminal, options, "Removing a text");
  return withReadyKernel(context, { folder: await folderNamed(folder) }, async (kernel) => {
    if (verb === "list") return list(context, kernel, options);
    if (verb === "verify")
      return verify(
        context,
        kernel,
        given === undefined ? null : await conversationNamed(kernel, given),
        options,
      );
    const named = await conversationNamed(kernel, given ?? "");
    if (verb === "why") return why(context, kernel, named, options);
    return verb === "redact"
      ? redact(context, kernel, named, options)
      : remove(context, kernel, named, options);
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

/** Shows the memories and blocks that an answer rests on; default the last one. */
async function why(
  { terminal }: CommandContext,
  kernel: KernelClient,
  conversation: Conversation,
  { entry: given, json }: ConversationsOptions,
): Promise<number> {
  const entry = given === undefined ? undefined : await entryNamed(kernel, conversation.id, given);
  const answer = { id: conversation.id, ...(entry === undefined ? {} : { entry }) };
  try {
    if (json === true) terminal.json(await kernel.whyAnswered(answer));
    else terminal.print(knownLines(await whyAnswered(kernel, conversation, entry), terminal.surface));
  } catch (error) {
    if (entry !== undefined || !isLaresError(error, "NotFound")) throw error;
    throw new Error(`Nothing was answered in "${titleOf(conversation)}" yet.`, { cause: error });
  }
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

async function redact(
  { terminal }: CommandContext,
  kernel: KernelClient,
  conversation: Conversation,
  { yes, json, entry: given, withDerived = false }: ConversationsOptions,
): Promise<number> {
  const entry = given === undefined ? undefined : await entryNamed(kernel, conversation.id, given);
  const isJson = json === true;
  const message = "The text to remove, as it is written (it is not shown):";
  const text =
    entry === undefined
      ? await readHidden(terminal, { message, wanted: "text", maxBytes: maxTextBytes, isJson })
      : null;
  if (entry === undefined && text === null) return exitCodes.failed;
  if (yes !== true) {
    terminal.print([
      `Removes ${entry === undefined ? "the text" : "the entry"} from "${titleOf(conversation)}" and all that shares its entries. It cannot be recovered.`,
      "Copies in questions, actions, events, notifications, traces and memories of the conversation are removed too.",
      ...(withDerived ? ["So is everything that models made from it since, memories included."] : []),
      "Files of this folder stay as they are, those that show conversations too.",
    ]);
    if (!(await terminal.confirm("Remove it?"))) {
      terminal.warn("Nothing was removed.");
      return exitCodes.failed;
    }
  }
  const { id } = conversation;
  const what = { id, ...(entry === undefined ? { text: text ?? "" } : { entry }) };
  const isAll = withDerived || (yes !== true && (await isDerivedToGo(terminal, kernel, what)));
  const request = { ...what, ...(isAll ? { with_derived: true } : {}) };
  const done = await terminal.progress("removing", kernel.redactConversation(request));
  if (isJson) terminal.json(done);
  else {
    terminal.print(redactionLines(done, conversation.agent, terminal.surface));
  }
  return exitCodes.ok;
}

/** Shows what models made from the text before it is removed: afterwards nobody knows from which one it was made. */
async function isDerivedToGo(
  terminal: CommandContext["terminal"],
  kernel: KernelClient,
  what: Parameters<KernelClient["redactConversation"]>[0],
): Promise<boolean> {
  const found = await kernel.redactConversation({ ...what, preview: true });
  const lines = derivedLines(found, terminal.surface);
  if (lines.length === 0) return false;
  terminal.print(lines);
  return await terminal.confirm("Remove all of these too?");
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
