import type { Conversation } from "../../base/vocabulary/conversation.ts";
import type { ToolResult } from "../../base/vocabulary/tool-result.ts";
import type { KernelClient } from "../kernel-client.ts";
import { commandOutcome, saidBy } from "../offered-commands.ts";
import { oneLine } from "../render/foreign.ts";
import { wholeAction } from "../run/whole-action.ts";
import { choicesOf } from "./choices.ts";
import type { ChatInput, KernelCommand } from "./input.ts";
import { blocksOf, correctKnown, forgetKnown, memoriesLike, whyAnswered } from "./known.ts";
import type { OpenedChat } from "./open.ts";
import { redactionSentence } from "./render/redaction.ts";
import type { KnownSource } from "./state/memories.ts";

/** The session in which a command is carried out. */
interface Session {
  readonly kernel: KernelClient;
  readonly opened: Pick<OpenedChat, "agents" | "rehearsal" | "conversation">;
  /** The conversation that is shown. */
  readonly conversation: Conversation;
  /** True if nothing was said in it. */
  isEmpty(): boolean;
  send(input: ChatInput): void;
  /** Shows another conversation. */
  show(conversation: Conversation, isNew: boolean, isCopy?: boolean): Promise<void>;
  /** Looks for what a word after `@` can mean. */
  look(word: string): Promise<void>;
}

/** Sends the requests of a command to the kernel, and what came of them to the chat. */
export async function carryOut(command: KernelCommand, chat: Session): Promise<void> {
  const { kernel, conversation } = chat;
  const { id } = conversation;
  const send = (input: ChatInput): void => chat.send(input);
  switch (command.kind) {
    case "load":
      return load(chat, command.id);
    case "approve": {
      const { digest, rules } = command;
      await kernel.approve(command.id, {
        digest,
        ...(rules === undefined ? { remember: "once" as const } : { remember: "always" as const, rules }),
      });
      return decided(chat, command.id);
    }
    case "reject":
      await kernel.reject(command.id, command.reason);
      return decided(chat, command.id);
    case "undo": {
      const { title } = await kernel.undo(command.id);
      await decided(chat, command.id);
      return say(chat, `Undone: ${oneLine(title)}`);
    }
    case "rebase":
      await kernel.rebase(command.id);
      return decided(chat, command.id);
    case "answer": {
      const { digest, allow, remember } = command;
      send({ kind: "ask", ask: await kernel.answerAsk(command.id, { digest, allow, remember }) });
      return send({ kind: "decided", id: command.id });
    }
    case "stop":
      await kernel.cancelConversation(id, command.process);
      return say(chat, "Stopped.");
    case "files":
      return chat.look(command.word);
    case "model": {
      const conversation = await kernel.updateConversation({ id, model: command.value });
      send({ kind: "conversation", conversation });
      return say(chat, `The model is ${conversation.model} from now on.`);
    }
    case "title": {
      const conversation = await kernel.updateConversation({ id, title: command.value });
      return send({ kind: "conversation", conversation });
    }
    case "run":
      return ran(chat, command.name, await kernel.runCommand(command.agent, command.name, command.args));
    case "preview": {
      const { text } = command;
      const found = await kernel.redactConversation({ id, text, preview: true });
      return send({ kind: "redactable", text, found, atMs: Date.now() });
    }
    case "redact": {
      const { text, withDerived } = command;
      const request = { id, text, ...(withDerived ? { with_derived: true } : {}) };
      return say(chat, redactionSentence(await kernel.redactConversation(request)));
    }
    case "known": {
      const { source, purpose } = command;
      return send({ kind: "known", source, purpose, ...(await listedBy(chat, source)) });
    }
    case "correct": {
      const { item, text, again } = command;
      say(chat, await correctKnown(kernel, conversation, item, text));
      return listAgain(chat, again);
    }
    case "forget": {
      const { item, everywhere, again } = command;
      say(chat, await forgetKnown(kernel, conversation, item, everywhere));
      return listAgain(chat, again);
    }
    case "pin":
      await kernel.pinEntry(id, command.entry, command.pinned);
      return;
    case "compact":
      await kernel.compactConversation(id);
      return;
    case "context":
      return send({ kind: "context", context: await kernel.conversationContext(id) });
    case "list": {
      const items = await choicesOf(kernel, chat.opened.agents, { state: "open" });
      const others = items.filter(({ conversation }) => conversation.id !== id);
      return send({ kind: "conversations", items: others });
    }
    case "fork": {
      // The conversation before it is deleted if nothing was said in it.
      const isCopy = !chat.isEmpty();
      return chat.show(await kernel.forkConversation(id), false, isCopy);
    }
    case "resume":
      return chat.show(command.conversation, false);
    case "new": {
      const { agent } = conversation;
      const { rehearsal } = chat.opened;
      return chat.show(
        await kernel.openConversation({
          agent,
          ...(rehearsal === null ? {} : { model: chat.opened.conversation.model }),
        }),
        true,
      );
    }
  }
}

function say({ send }: Pick<Session, "send">, text: string): void {
  send({ kind: "said", text });
}

function listedBy({ kernel, conversation }: Session, source: KnownSource): ReturnType<typeof blocksOf> {
  switch (source.kind) {
    case "why":
      return whyAnswered(kernel, conversation, source.entry);
    case "memories":
      return memoriesLike(kernel, conversation, source.words);
    case "blocks":
      return blocksOf(kernel, conversation);
  }
}

/** Reads a list that stays open again, and shows it. */
async function listAgain(chat: Session, source: KnownSource | undefined): Promise<void> {
  if (source === undefined) return;
  const listed = await listedBy(chat, source);
  chat.send({ kind: "known", source, purpose: "look", ...listed, isAgain: true });
}

/** Shows the outcome of an extension's command. */
async function ran(chat: Session, name: string, result: ToolResult): Promise<void> {
  const outcome = commandOutcome(result);
  switch (outcome.kind) {
    case "failed":
      throw new Error(outcome.message);
    case "waits":
      return say(chat, "It proposes a change, which waits for you: lares review");
    case "conversation":
      return chat.show(await chat.kernel.conversation(outcome.id), false);
    case "done":
      return say(chat, oneLine(saidBy({ name }, outcome.value)));
  }
}

async function load({ kernel, send }: Pick<Session, "kernel" | "send">, id: string): Promise<void> {
  send({ kind: "whole", whole: await wholeAction(kernel, await kernel.action(id)) });
}

async function decided(chat: Pick<Session, "kernel" | "send">, id: string): Promise<void> {
  await load(chat, id);
  chat.send({ kind: "decided", id });
}
