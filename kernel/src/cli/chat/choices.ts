import type { Agent } from "../../base/vocabulary/agent.ts";
import type { Conversation } from "../../base/vocabulary/conversation.ts";
import { UsageError } from "../command.ts";
import type { KernelClient } from "../kernel-client.ts";
import { oneNamed } from "../one-named.ts";
import { pickFromList } from "../prompts/pick-from-list.ts";
import { counted } from "../render/quantities.ts";
import { displayWidth, truncate } from "../render/width.ts";
import type { Terminal } from "../terminal.ts";
import { type ConversationChoice, factsOf, titleOf } from "./state/choices.ts";

const maxListed = 100;
/** A shorter title says nothing. */
const fewestOfTitle = 16;

/** Returns conversations, of one agent or of all, the last used first; `state`: default both. */
export async function choicesOf(
  kernel: Pick<KernelClient, "conversations" | "actions" | "asks">,
  agents: readonly Agent[],
  query: { readonly agent?: string; readonly state?: Conversation["state"] },
): Promise<readonly ConversationChoice[]> {
  const [{ items }, actions, asks] = await Promise.all([
    kernel.conversations({ ...query, limit: maxListed }),
    kernel.actions({ state: "PendingApproval", limit: 1_000 }),
    kernel.asks("Pending"),
  ]);
  const waiting = new Map<string, number>();
  for (const id of [...actions.map(conversationOf), ...asks.map(({ conversation }) => conversation)])
    if (id !== undefined) waiting.set(id, (waiting.get(id) ?? 0) + 1);
  return items.map((conversation) => ({
    conversation,
    agentName: agents.find(({ id }) => id === conversation.agent)?.name ?? conversation.agent,
    waiting: waiting.get(conversation.id) ?? 0,
  }));
}

function conversationOf({ on_behalf_of: causes = [] }: { readonly on_behalf_of?: readonly object[] }) {
  for (const cause of causes)
    if ("conversation" in cause && typeof cause.conversation === "string") return cause.conversation;
  return undefined;
}

/** Returns a choice in one line; in a narrow terminal, the end of its facts has no room. */
function labelOf(choice: ConversationChoice, width: number): string {
  const facts = factsOf(choice);
  const title = truncate(
    titleOf(choice.conversation),
    Math.max(fewestOfTitle, width - displayWidth(facts) - 2),
  );
  return truncate(`${title}  ${facts}`, width);
}

/**
 * Returns the conversation that the person wants to continue: the only one, the chosen one, or the last used one where
 * nobody can choose. Null if the person chose none. UsageError if there is none.
 */
export async function chosenConversation(
  terminal: Terminal,
  kernel: KernelClient,
  agents: readonly Agent[],
  agent?: string,
): Promise<Conversation | null> {
  const choices = await choicesOf(kernel, agents, {
    state: "open",
    ...(agent === undefined ? {} : { agent }),
  });
  const [first, other] = choices;
  if (first === undefined) throw new UsageError("There is no conversation to resume. lares chat begins one.");
  if (other === undefined) return first.conversation;
  if (!terminal.isInteractive) {
    terminal.warn(
      `Continues the last of ${counted(choices.length, "conversation")}: ${titleOf(first.conversation)} (${first.conversation.id.slice(-8)})`,
    );
    return first.conversation;
  }
  return pickFromList(terminal, {
    message: "Which conversation?",
    options: choices.map((choice) => ({
      value: choice.conversation,
      label: (width) => labelOf(choice, width),
    })),
  });
}

/** Returns the conversation that a person means by its id, a part of it, or its title. */
export async function conversationNamed(kernel: KernelClient, given: string): Promise<Conversation> {
  return oneNamed<Conversation>(await kernel.allConversations({}), given, {
    noun: "conversation",
    nouns: "conversations",
    listing: "lares conversations",
    id: ({ id }) => id,
    title: titleOf,
  });
}
