import { text as readAll } from "node:stream/consumers";
import { newId } from "../../base/ids.ts";
import { Asking, waitingLines } from "../chat/asking.ts";
import { withConversation, type ChatOptions } from "../chat/open.ts";
import { errorLines, UsageError, type CommandContext } from "../command.ts";

export interface AskOptions extends Pick<ChatOptions, "folder" | "model" | "rehearse"> {
  readonly agent?: string;
  readonly json?: boolean;
}

/** Asks a mind one question and prints the answer. */
export async function ask(
  context: CommandContext,
  words: readonly string[],
  { agent, json, ...options }: AskOptions,
): Promise<number> {
  const { terminal } = context;
  const [word, ...more] = words;
  const isPiped = word === "-" && more.length === 0;
  const question = (isPiped ? await readAll(process.stdin) : words.join(" ")).trim();
  if (question === "")
    throw new UsageError(
      'The question is missing. Write lares ask "…", or lares ask - and the question on standard input.',
    );
  return withConversation(context, agent, options, async (opened) => {
    const remark = (text: string): void => terminal.warn(terminal.errorSurface.style.dim(text));
    await using asking = new Asking(terminal, opened, {
      ...(json === true
        ? { entry: (entry) => terminal.json({ type: "entry", entry }) }
        : { said: (piece) => terminal.write(piece) }),
      remark,
    });
    await asking.begin();
    if (opened.rehearsal !== null) remark(`A rehearsal: ${opened.rehearsal} answers, and no model is asked.`);
    const outcome = await asking.ask(question, newId());
    const { code, text, error, waiting, conversation } = outcome;
    if (json === true)
      terminal.json({
        type: "answer",
        conversation: conversation.id,
        agent: conversation.agent,
        model: conversation.model,
        text,
        usage: conversation.usage,
        waiting,
        ...(error === null ? {} : { error }),
      });
    if (error !== null && code !== 130) terminal.warn(errorLines(error, terminal));
    terminal.warn(waitingLines(outcome));
    return code;
  });
}
