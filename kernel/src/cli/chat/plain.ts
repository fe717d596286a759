import { createInterface } from "node:readline/promises";
import { newId } from "../../base/ids.ts";
import { errorLines, exitCodes, type CommandContext } from "../command.ts";
import { Asking, waitingLines } from "./asking.ts";
import type { OpenedChat } from "./open.ts";

/** A conversation without a screen: each line of standard input is a message, and answers are plain text. */
export async function chatInLines({ terminal }: CommandContext, opened: OpenedChat): Promise<number> {
  await using asking = new Asking(terminal, opened, {
    said: (text) => terminal.write(text),
    remark: (text) => terminal.warn(text),
  });
  await asking.begin();
  if (opened.rehearsal !== null)
    terminal.warn(`A rehearsal: ${opened.rehearsal} answers, and no model is asked.`);
  let code: number = exitCodes.ok;
  using lines = createInterface({ input: process.stdin, terminal: false });
  const stop = (): void => lines.close();
  terminal.interrupted.addEventListener("abort", stop);
  try {
    for await (const line of lines) {
      if (line.trim() === "") continue;
      const outcome = await asking.ask(line, newId());
      code = outcome.code;
      if (outcome.error !== null && code !== 130) terminal.warn(errorLines(outcome.error, terminal));
      terminal.warn(waitingLines(outcome));
      if (terminal.interrupted.aborted) break;
    }
  } finally {
    terminal.interrupted.removeEventListener("abort", stop);
  }
  return terminal.interrupted.aborted ? 130 : code;
}
