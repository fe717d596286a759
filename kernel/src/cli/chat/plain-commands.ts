import { exitCodes, UsageError } from "../command.ts";
import { argumentsOf, commandOutcome, saidBy, type OfferedCommand } from "../offered-commands.ts";
import { manyLines, oneLine } from "../render/foreign.ts";
import { commandHelp, contextLines } from "./render/panels.ts";
import { workerLines } from "./render/workers.ts";
import { redactionLines } from "./render/redaction.ts";
import { knownLines } from "./render/known.ts";
import type { Terminal } from "../terminal.ts";
import type { Asking } from "./asking.ts";
import { compactAndWait } from "./compaction.ts";
import { answerNamed, blocksOf, whyAnswered } from "./known.ts";
import { knownInLines } from "./plain-known.ts";
import type { OpenedChat } from "./open.ts";
import { outcomeLines } from "./outcome.ts";
import { nothingToUndo, runningNamed, stoppable } from "./state/state.ts";
import { offeredWords, type SlashName } from "./state/slash.ts";
import { itemsOf } from "./state/items.ts";

/** The commands that need nothing of the conversation. */
const stateless: ReadonlySet<SlashName> = new Set(["help", "quit"]);

/**
 * Runs a command from a line of standard input. What it shows goes to standard output, and what it did to standard
 * error. Returns false for the one that leaves. UsageError for a command that needs a screen, or has nothing to work on.
 */
export async function runInLines(
  asking: Asking,
  opened: OpenedChat,
  terminal: Terminal,
  { name, rest }: { readonly name: SlashName; readonly rest: string },
  offered: readonly OfferedCommand[],
): Promise<boolean> {
  if (!stateless.has(name)) await asking.catchUp();
  const { kernel, conversation, transcript } = asking;
  const { id } = conversation;
  switch (name) {
    case "help":
      terminal.print([
        ...commandHelp(terminal.surface, offeredWords(offered, conversation.agent)),
        "",
        "Every other line is a message.",
      ]);
      return true;
    case "workers":
      terminal.print(workerLines({ transcript, nowMs: Date.now() }, terminal.surface));
      return true;
    case "context":
      terminal.print(
        contextLines(await kernel.conversation(id), await kernel.conversationContext(id), terminal.surface),
      );
      return true;
    case "stop": {
      if (rest !== "") {
        await kernel.cancelConversation(id, runningNamed({ transcript }, rest).id);
        terminal.warn("Stopped.");
        return true;
      }
      const isAtWork = stoppable({ transcript }).length > 0;
      if (isAtWork) await kernel.cancelConversation(id);
      terminal.warn(isAtWork ? "Stopped." : "Nothing runs in this conversation.");
      return true;
    }
    case "undo":
      return undo(asking, terminal);
    case "model": {
      const { model } = await kernel.updateConversation({ id, model: rest });
      terminal.warn(`The model is ${oneLine(model)} from now on.`);
      return true;
    }
    case "title":
      await kernel.updateConversation({ id, title: rest });
      return true;
    case "redact": {
      const done = await kernel.redactConversation({ id, text: rest });
      for (const line of redactionLines(done, conversation.agent, terminal.surface)) terminal.warn(line);
      return true;
    }
    case "why":
      terminal.print(
        knownLines(await whyAnswered(kernel, conversation, answerNamed(transcript, rest)), terminal.surface),
      );
      return true;
    case "blocks":
      terminal.print(knownLines(await blocksOf(kernel, conversation), terminal.surface));
      return true;
    case "memories":
    case "correct":
    case "forget":
      await knownInLines(asking, terminal, name, rest);
      return true;
    case "pin":
      return pin(asking, terminal);
    case "compact":
      terminal.warn(await compactAndWait(asking));
      return true;
    case "fork":
      await asking.show(await kernel.forkConversation(id), false);
      terminal.warn(
        `The copy is ${asking.conversation.id.slice(-8)}. ${opened.again} --resume ${id.slice(-8)} returns to the one before.`,
      );
      return true;
    case "new": {
      const { agent } = conversation;
      const model = opened.rehearsal === null ? {} : { model: opened.conversation.model };
      await asking.show(await kernel.openConversation({ agent, ...model }), true);
      return true;
    }
    case "resume":
      throw new UsageError(
        `/resume lets you choose on a screen. Name the conversation instead: ${opened.again} --resume ID.`,
      );
    case "quit":
      return false;
  }
}

/** Runs a command of an extension; returns the exit code of what it came to. */
export async function runOfferedInLines(
  asking: Asking,
  opened: OpenedChat,
  terminal: Terminal,
  { command, rest }: { readonly command: OfferedCommand; readonly rest: string },
): Promise<number> {
  const given = argumentsOf(command, rest);
  if (given.kind === "wrong") throw new UsageError(oneLine(given.message));
  const outcome = commandOutcome(await asking.kernel.runCommand(command.agent, command.name, given.value));
  switch (outcome.kind) {
    case "failed":
      throw new Error(outcome.message);
    case "waits":
      terminal.warn(`A change waits for you: lares actions${opened.place} show ${oneLine(outcome.action)}`);
      return exitCodes.waiting;
    case "conversation": {
      const answered = await asking.answered(await asking.kernel.conversation(outcome.id));
      terminal.warn(outcomeLines(answered, opened, terminal));
      return answered.code;
    }
    case "done":
      terminal.print(manyLines(saidBy(command, outcome.value)));
      return exitCodes.ok;
  }
}

async function undo({ kernel, transcript }: Asking, terminal: Terminal): Promise<true> {
  const newest = [...transcript.actions].toSorted(([, a], [, b]) => b.last - a.last);
  let isUndone = false;
  let isWaiting = false;
  for (const [id] of newest) {
    const { state, title } = await kernel.action(id);
    isUndone ||= state === "Undone";
    isWaiting ||= state === "PendingApproval";
    if (state !== "Committed") continue;
    await kernel.undo(id);
    terminal.warn(`Undone: ${oneLine(title)}`);
    return true;
  }
  throw new UsageError(nothingToUndo(isUndone, isWaiting));
}

async function pin({ kernel, conversation, transcript }: Asking, terminal: Terminal): Promise<true> {
  const last = itemsOf(transcript).findLast(
    (item) => item.kind === "message" && item.message.role === "assistant" && item.message.whole !== null,
  );
  if (last === undefined) throw new UsageError("There is no answer to pin yet.");
  const pinned = transcript.pins.get(last.key)?.value !== true;
  await kernel.pinEntry(conversation.id, last.key, pinned);
  terminal.warn(pinned ? "The last answer stays in the context." : "The last answer is no longer pinned.");
  return true;
}
