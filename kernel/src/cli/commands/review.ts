import { exitCodes, folderNamed, UsageError, withReadyKernel, type CommandContext } from "../command.ts";
import { lookOf, wantsAscii } from "../render/review/look.ts";
import { ReviewSession } from "../review/session.ts";
import { Screen } from "../review/screen.ts";
import { ensureTrust } from "../run/trust.ts";

/** Opens the review of waiting actions on the whole terminal. */
export async function review(context: CommandContext, name: string): Promise<number> {
  const { terminal } = context;
  if (!terminal.isInteractive || process.env["TERM"] === "dumb")
    throw new UsageError(
      'lares review needs a terminal. In a script, "lares actions list" shows what waits and "lares actions approve" decides on it.',
    );
  const folder = await folderNamed(name);
  return withReadyKernel(context, { folder }, async (kernel) => {
    const status = await kernel.status();
    if (!(await ensureTrust(context, kernel, status))) return exitCodes.failed;
    const look = lookOf(terminal.surface.style, wantsAscii(process.env, process.platform));
    const screen = new Screen(process.stdin, process.stdout);
    const ports = {
      kernel,
      screen,
      terminal,
      input: process.stdin,
      output: process.stdout,
      environment: process.env,
    };
    using session = new ReviewSession(ports, look, status.workspace);
    const end = await session.run();
    screen.leave();
    switch (end.kind) {
      case "quit":
        return exitCodes.ok;
      case "signal":
        return end.signal === "SIGTERM" ? 143 : 129;
      case "gone":
        terminal.warn([
          `The kernel is gone: ${end.reason}`,
          "What was waiting still waits. Run lares review again to go on.",
        ]);
        return exitCodes.failed;
    }
  });
}
