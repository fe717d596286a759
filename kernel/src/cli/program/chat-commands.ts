import type { Command } from "commander";
import type { CliPorts } from "../ports.ts";
import type { ChatOptions } from "../chat/open.ts";
import type { AskOptions } from "../commands/ask.ts";
import type { BlocksOptions } from "../commands/blocks.ts";
import type { ConversationsOptions } from "../commands/conversations.ts";
import { examples, execute, json } from "./command-parts.ts";

const rehearsal =
  "answer from this script instead of asking a model, for this run only; its form is in schemas/documents.md, one is examples/conversation/rehearsal.yaml";

/** Adds the commands that talk with minds. */
export function addChat(program: Command, ports: CliPorts): void {
  program
    .command("chat")
    .description("talk with an agent about a folder")
    .argument("[agent]", "its id, or the last word of it (default: the only one with a mind)")
    .option("--folder <folder>", "the workspace", ".")
    .option("--resume [id]", "continue a conversation; without an id, choose one")
    .option("--fork <id[@seq]>", "continue a copy of a conversation, as it was up to an entry")
    .option("--rehearse <file>", rehearsal)
    .option("--model <provider/model>", "the model of this conversation (default: the route's)")
    .addHelpText(
      "after",
      `
Nothing is changed before you approve it, in place, and what was changed can be undone with one key. In a folder without
a lares.yaml, this command asks once whether to use Lares' steward there. /help shows all keys and commands.

Without a terminal, each line of standard input is a message or a command such as /help, and the answers are plain text.
The exit code is 0; or 1 if an answer or a command failed, 2 if a command was wrong, 3 if something waits for you, 4 if the
last question was answered, but a worker failed, 5 if the last answer was cut off, 130 after Ctrl-C, and 141 if the reader
of the output left, which stops an answer too.
${examples([
  ["lares chat", "talk about this folder"],
  ["lares chat --resume", "choose a conversation and continue it"],
  ["lares chat --rehearse script.yaml", "try it without a model"],
])}`,
    )
    .action((agent: string | undefined, options: ChatOptions) =>
      execute(ports, async (context) => (await import("../commands/chat.ts")).chat(context, agent, options)),
    );
  program
    .command("ask")
    .description("ask an agent one question, and print the answer")
    .argument("<question...>", "the question; - reads it from standard input")
    .option("--agent <id>", "its id, or the last word of it (default: the only one with a mind)")
    .option("--folder <folder>", "the workspace", ".")
    .option("--rehearse <file>", rehearsal)
    .option("--model <provider/model>", "the model that answers (default: the route's)")
    .addOption(json())
    .addHelpText(
      "after",
      `
The answer goes to standard output, everything else to standard error. With --json: one entry of the conversation a line,
and at the end the answer with its usage, or the error.

Exit codes:
  0    answered
  1    no answer, or one that broke off
  2    wrong usage, or no model is set up
  3    something waits for you; the output says how to decide
  4    answered, but a worker or a branch failed
  5    answered, but cut off: it reached the model's output limit, or its provider withheld the rest
  130  stopped with Ctrl-C; 143 with SIGTERM
  141  stopped because the reader of the output left, such as head
${examples([
  ['lares ask "which of these notes are about birds?"', ""],
  ["git diff | lares ask - --folder ~/project", "the question from standard input"],
])}`,
    )
    .action((words: string[], options: AskOptions) =>
      execute(ports, async (context) => (await import("../commands/ask.ts")).ask(context, words, options)),
    );
  program
    .command("conversations")
    .description(
      "list conversations, see what an answer rests on, prove their logs, remove a text from one, or delete one",
    )
    .usage("[folder] [list | why <id> | verify [id] | redact <id> | delete <id>] [options]")
    .argument("[words...]")
    .option("--all", "list: also the archived ones")
    .option("--yes", "redact, delete: without being asked")
    .option(
      "--entry <id>",
      "redact: the whole entry with this id, instead of a text that you are asked for; why: the answer",
    )
    .option("--with-derived", "redact: also the answers, summaries and memories that models made from it")
    .addOption(json())
    .addHelpText(
      "after",
      `
why shows the memories and blocks that the last answer rests on, with the ids for lares memory correct and forget.
redact removes a text for good from a conversation, its forks, searches and what models read, and copies of it from
questions, actions, events, notifications, traces and memories; the log still proves. It says what stays, and where. The
text is read from the terminal without being shown, or from standard input. The last characters of an id, as the list
shows them, or the beginning of a title are enough. verify reads each log from its first entry, and those of the agents'
minds; it exits with 1 if one is not what was written. A damaged log is left as it is: put its folder back from a
backup, or delete the conversation.
${examples([
  ["lares conversations", "the open ones, the last used first"],
  ["lares conversations why 5c1f9e20", "which memories and blocks the last answer rests on"],
  ["lares conversations verify", "prove all of them"],
  ["lares conversations redact 5c1f9e20", "remove a password that you wrote by mistake"],
  ["lares conversations delete 5c1f9e20", "delete one for good"],
])}`,
    )
    .action((words: string[], options: ConversationsOptions) =>
      execute(ports, async (context) =>
        (await import("../commands/conversations.ts")).conversations(context, words, options),
      ),
    );
  program
    .command("blocks")
    .description("show what a mind always has before it, change it, or remove it for good")
    .usage("[folder] [list | edit <name> <text> | forget <name>] [options]")
    .argument("[words...]")
    .option("--agent <id>", "the agent; optional if only one has a mind")
    .option("--conversation <id>", "for the blocks that each conversation has for itself")
    .option("--yes", "forget: without being asked")
    .addOption(json())
    .addHelpText(
      "after",
      `
All conversations of the mind have what you write, and running ones are told. A text that you write is yours: the mind may
change it later, unless the block is read-only.
${examples([
  ["lares blocks", "what they say"],
  ['lares blocks edit project "Photos of our trips, one folder a year"', "write one"],
  ["lares blocks forget project", "empty it, and remove what it said from every log"],
])}`,
    )
    .action((words: string[], options: BlocksOptions) =>
      execute(ports, async (context) =>
        (await import("../commands/blocks.ts")).blocks(context, words, options),
      ),
    );
}
