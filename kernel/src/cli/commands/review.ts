import { exitCodes, folderNamed, UsageError, withReadyKernel, type CommandContext } from "../command.ts";
import { wantsAscii } from "../render/screen-style.ts";
import { ReviewSession } from "../review/session.ts";
import { Screen } from "../review/screen.ts";
import { reviewInLines } from "../run/review-in-lines.ts";
import { ensureTrust } from "../run/trust.ts";

/** Opens the review of waiting actions on the whole terminal. */
export async function review(context: CommandContext, name: string): Promise<number> {
  const { terminal } = context;
  if (!terminal.isInteractive)
    throw new UsageError(
      'lares review needs a terminal. In a script, use "lares actions list" and "lares actions approve".',
    );
  const folder = await folderNamed(name);
  return withReadyKernel(context, { folder }, async (kernel) => {
    const status = await kernel.status();
    if (!(await ensureTrust(context, kernel, status)))
      return terminal.interrupted.aborted ? terminal.interruptedCode : exitCodes.failed;
    if (!terminal.canDraw) return reviewInLines(context, kernel);
    const screenStyle = {
      style: terminal.surface.style,
      isAscii: wantsAscii(process.env, process.platform),
    };
    const screen = new Screen(process.stdin, process.stdout);
    const ports = {
      kernel,
      screen,
      terminal,
      input: process.stdin,
      output: process.stdout,
      environment: process.env,
    };
    using session = new ReviewSession(ports, screenStyle, status.workspace);
    const end = await session.run();
    screen.leave();
    switch (end.kind) {
      case "quit":
        return exitCodes.ok;
      case "signal":
        return end.signal === "SIGTERM" ? 143 : 129;
      case "gone":
        terminal.warn([
          `The connection to the kernel was lost: ${end.reason}`,
          "Undecided proposals still wait. Run lares review again to continue.",
        ]);
        return exitCodes.failed;
    }
  });
}
