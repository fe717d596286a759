import { text as readAll } from "node:stream/consumers";
import { newId } from "../../base/ids.ts";
import { isLaresError, messageOf } from "../../base/errors.ts";
import { Asking } from "../chat/asking.ts";
import { checkLength } from "../chat/files.ts";
import { withConversation, type ChatOptions } from "../chat/open.ts";
import { changedUnasked, outcomeLines, unaskedLine } from "../chat/outcome.ts";
import { slashOf } from "../chat/state/slash.ts";
import { UsageError, type CommandContext } from "../command.ts";
import { KernelClient } from "../kernel-client.ts";

export interface AskOptions extends Pick<ChatOptions, "folder" | "model" | "rehearse"> {
  readonly agent?: string;
  readonly json?: boolean;
}

/** Asks a mind one question and prints the answer. */
export async function ask(
  context: CommandContext,
  words: readonly string[],
  options: AskOptions,
): Promise<number> {
  const [word, ...more] = words;
  const isPiped = word === "-" && more.length === 0;
  const question = (isPiped ? await readAll(process.stdin) : words.join(" ")).trim();
  if (question === "")
    throw new UsageError(
      'The question is missing. Write lares ask "…", or lares ask - and the question on standard input.',
    );
  if (slashOf(question) !== null)
    throw new UsageError(
      `${JSON.stringify(question)} looks like a command of lares chat. Begin a question with something else than a slash.`,
    );
  // Before a conversation is begun for it.
  checkLength(question);
  return inJson(context, options.json === true, () => asked(context, question, options));
}

async function asked(
  context: CommandContext,
  question: string,
  { agent, json, ...options }: AskOptions,
): Promise<number> {
  const { terminal } = context;
  return withConversation(context, agent, options, async (opened) => {
    const remark = (text: string): void => terminal.warn(terminal.errorSurface.style.dim(text));
    const actions = new Set<string>();
    await using asking = new Asking(terminal, opened, {
      entry: (entry) => {
        if (entry.kind === "action") actions.add(entry.ref);
        if (json === true) terminal.json({ type: "entry", entry });
      },
      ...(json === true ? {} : { said: (piece) => terminal.write(piece) }),
      remark,
    });
    await asking.begin();
    if (opened.rehearsal !== null) remark(`A rehearsal: ${opened.rehearsal} answers, and no model is asked.`);
    const outcome = await asking.ask(question, newId());
    const { code, text, error, cut, failed, waiting, conversation } = outcome;
    const changed = await changedUnasked(new KernelClient(opened.connection), actions);
    if (json === true)
      terminal.json({
        type: "answer",
        conversation: conversation.id,
        agent: conversation.agent,
        model: conversation.model,
        text,
        usage: conversation.usage,
        waiting,
        failed,
        ...(changed.length === 0 ? {} : { changed }),
        ...(cut === null ? {} : { cut }),
        ...(error === null ? {} : { error }),
      });
    for (const path of changed) remark(unaskedLine(path));
    terminal.warn(outcomeLines(outcome, opened, terminal));
    // Another question would begin another conversation.
    if (cut !== null && waiting.length === 0)
      terminal.warn(`Continue with: ${opened.again} --resume ${conversation.id.slice(-8)}`);
    return code;
  });
}

/** Calls `work`, and prints as JSON too why it did not come to an answer. */
async function inJson(
  { terminal }: CommandContext,
  isJson: boolean,
  work: () => Promise<number>,
): Promise<number> {
  try {
    return await work();
  } catch (error) {
    if (isJson && !terminal.interrupted.aborted)
      terminal.json({
        type: "error",
        error: { code: errorCodeOf(error), message: messageOf(error) },
      });
    throw error;
  }
}

function errorCodeOf(error: unknown): string {
  if (error instanceof UsageError) return "Usage";
  return isLaresError(error) ? error.code : "InternalError";
}
