import type { Conversation } from "../../base/vocabulary/conversation.ts";
import { withConversation, type ChatOptions, type OpenedChat } from "../chat/open.ts";
import { chatInLines } from "../chat/plain.ts";
import { ChatSession } from "../chat/session.ts";
import { exitCodes, UsageError, type CommandContext } from "../command.ts";
import { hasKeyScreen } from "../key-screen.ts";
import { KernelClient } from "../kernel-client.ts";
import { oneLine } from "../render/foreign.ts";
import { waitingNotifications } from "../render/notifications.ts";
import { wantsAscii } from "../render/screen-style.ts";
import { Screen } from "../review/screen.ts";

/** Talks with a mind: on the whole screen of a terminal, else by lines. */
export async function chat(
  context: CommandContext,
  agent: string | undefined,
  options: ChatOptions,
): Promise<number> {
  if (options.resume !== undefined && options.fork !== undefined)
    throw new UsageError("`--resume` and `--fork` cannot be combined. Use one of them.");
  const hasScreen = hasKeyScreen(context.terminal);
  if (hasScreen) context.terminal.keepTyped();
  return withConversation(context, agent, options, async (opened) => {
    // The screen of a chat says it itself: what stands before it is seen only once it is left.
    if (hasScreen) return await onScreen(context, opened);
    await tellWaiting(context, opened);
    if (context.terminal.isInteractive)
      context.terminal.warn("Each line is a message. /help lists the commands, and Ctrl-D leaves.");
    return await chatInLines(context, opened);
  });
}

async function tellWaiting({ terminal }: CommandContext, { connection }: OpenedChat): Promise<void> {
  const { total } = await new KernelClient(connection).notifications({ state: "New", limit: 1 });
  if (total > 0) terminal.warn(terminal.errorSurface.style.dim(waitingNotifications(total)));
}

async function onScreen({ terminal }: CommandContext, opened: OpenedChat): Promise<number> {
  const screenStyle = {
    style: terminal.surface.style,
    isAscii: wantsAscii(process.env, process.platform),
  };
  const screen = new Screen(process.stdin, process.stdout);
  await using session = new ChatSession(
    { screen, terminal, input: process.stdin, output: process.stdout },
    opened,
    screenStyle,
  );
  const end = await session.run();
  screen.leave();
  const { left } = session;
  if (left !== null && end.kind !== "deleted")
    terminal.warn(terminal.errorSurface.style.dim(resumeHint(left, opened.again)));
  switch (end.kind) {
    case "quit":
      return exitCodes.ok;
    case "signal":
      return end.signal === "SIGTERM" ? 143 : 129;
    case "deleted":
      terminal.warn("The conversation was deleted elsewhere.");
      return exitCodes.failed;
    case "gone":
      terminal.warn(`The connection to the kernel was lost: ${oneLine(end.reason)}`);
      return exitCodes.failed;
  }
}

/** Returns how to continue a conversation. `again`: see `OpenedChat`. */
function resumeHint({ id, title }: Pick<Conversation, "id" | "title">, again: string): string {
  const name = title === "" ? "" : `"${oneLine(title)}": `;
  return `${name}${again} --resume ${id.slice(-8)} continues.`;
}
