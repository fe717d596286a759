import type { CommandContext } from "../command.ts";
import type { KernelClient } from "../kernel-client.ts";
import type { Status } from "../render/model.ts";
import { renderPending, renderTrust } from "../render/trust.ts";

/** Asks the person to accept what the workspace asks for; false when they did not, or when nobody is there to be asked. */
export async function ensureTrust(
  { terminal }: CommandContext,
  kernel: KernelClient,
  status: Status,
): Promise<boolean> {
  if (status.trusted) return true;
  if (!terminal.isInteractive) {
    terminal.warn(renderTrust(status, terminal.errorSurface));
    terminal.warn(
      "You have not accepted this yet. Run lares run at a terminal to be asked, or accept it with --trust.",
    );
    return false;
  }
  terminal.print(renderTrust(status, terminal.surface));
  if (!(await terminal.confirm("Let them run?"))) {
    terminal.warn("No agent was started. lares run asks again.");
    return false;
  }
  // Bound to what was shown: if it has changed meanwhile, the kernel refuses.
  await kernel.trust(status.trust.digest);
  return true;
}

/** Shows what has come to be asked for while agents run, and asks. */
export async function askForMore({ terminal }: CommandContext, status: Status): Promise<boolean> {
  terminal.print(renderPending(status, terminal.surface));
  return terminal.confirm("Accept it?");
}
