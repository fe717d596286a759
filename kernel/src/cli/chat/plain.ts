import { createInterface } from "node:readline/promises";
import { newId } from "../../base/ids.ts";
import { exitCodes, renderError, UsageError, type CommandContext } from "../command.ts";
import { noticeLines } from "../render/notifications.ts";
import { Asking } from "./asking.ts";
import type { OpenedChat } from "./open.ts";
import { changedUnasked, outcomeLines, unaskedLine } from "./outcome.ts";
import { runInLines, runOfferedInLines } from "./plain-commands.ts";
import { offeredWords, slashOf } from "./state/slash.ts";

/**
 * A conversation without a screen: each line of standard input is a message or a command, and answers are plain text.
 * Returns 2 if a line was wrong, else 1 if a command or an answer failed, else the code of the last answer.
 */
export async function chatInLines({ terminal }: CommandContext, opened: OpenedChat): Promise<number> {
  const changes = new Set<string>();
  await using asking = new Asking(terminal, opened, {
    entry: (entry) => void (entry.kind === "action" && changes.add(entry.ref)),
    said: (text) => terminal.write(text),
    remark: (text) => terminal.warn(text),
    notice: (notice) => terminal.warn(noticeLines(notice, terminal.errorSurface)),
  });
  await asking.begin();
  if (opened.rehearsal !== null)
    terminal.warn(`A rehearsal: ${opened.rehearsal} answers, and no model is asked.`);
  const codes: number[] = [];
  const tellChanges = async (): Promise<void> => {
    const paths = await changedUnasked(asking.kernel, changes);
    changes.clear();
    terminal.warn(paths.map(unaskedLine));
  };
  // A command would ask the person's own models.
  const offered = opened.rehearsal === null ? await asking.kernel.commands() : [];
  /** Returns false if the person leaves with it. */
  const take = async (line: string): Promise<boolean> => {
    const slash = slashOf(line, offeredWords(offered, asking.conversation.agent));
    try {
      if (slash === null) {
        const outcome = await asking.ask(line, newId());
        codes.push(outcome.code);
        await tellChanges();
        terminal.warn(outcomeLines(outcome, opened, terminal));
        return true;
      }
      if (slash.kind === "unknown") throw new UsageError(slash.message);
      if (slash.kind === "offered") {
        codes.push(await runOfferedInLines(asking, opened, terminal, slash));
        await tellChanges();
        return true;
      }
      return await runInLines(asking, opened, terminal, slash, offered);
    } catch (error) {
      if (terminal.interrupted.aborted) return false;
      // Without a kernel, no other line can be answered.
      if (slash === null && !(error instanceof UsageError)) throw error;
      terminal.warn(renderError(error, terminal));
      codes.push(error instanceof UsageError ? exitCodes.usage : exitCodes.failed);
      return true;
    }
  };
  using lines = createInterface({ input: process.stdin, terminal: false });
  const stop = (): void => lines.close();
  terminal.interrupted.addEventListener("abort", stop);
  try {
    for await (const line of lines) {
      if (line.trim() === "") continue;
      if (!(await take(line)) || terminal.interrupted.aborted) break;
    }
  } finally {
    terminal.interrupted.removeEventListener("abort", stop);
  }
  if (terminal.interrupted.aborted) return terminal.interruptedCode;
  return (
    [exitCodes.usage, exitCodes.failed].find((code) => codes.includes(code)) ?? codes.at(-1) ?? exitCodes.ok
  );
}
