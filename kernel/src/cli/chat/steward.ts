import { setTimeout as pause } from "node:timers/promises";
import { LaresError } from "../../base/errors.ts";
import { whenReady, type CommandContext } from "../command.ts";
import { editToEnable, renderEdit, writeEdit } from "../install/workspace-document.ts";
import type { KernelClient } from "../kernel-client.ts";
import { isAllowed } from "../prompts/allow.ts";
import { wrap } from "../render/width.ts";
import { askForMore } from "../run/trust.ts";

/** The mind that Lares brings along. */
const stewardId = "dev.lares.steward";
const pollMs = 50;
/** How long the kernel may take to read a changed document. Milliseconds. */
const patienceMs = 30_000;

/**
 * Offers to add the steward to the folder's document, which names no mind, and asks what it may do. Returns
 * "added" once the kernel has it, and "refused" if the person added it and then allowed it nothing.
 */
export async function addSteward(
  context: CommandContext,
  kernel: KernelClient,
  folder: string,
): Promise<"added" | "declined" | "refused"> {
  const { terminal } = context;
  const edit = await editToEnable(folder, stewardId, { locations: ["."] });
  terminal.print([
    ...wrap(
      "No agent of this folder has a mind that you can talk to. Lares' steward can talk with you about its files.",
      terminal.surface.width,
    ),
    ...renderEdit(edit, terminal.surface),
  ]);
  if (!(await isAllowed(terminal, "Add it to this document?"))) return "declined";
  const { digest } = (await kernel.status()).trust;
  await writeEdit(folder, edit);
  await terminal.progress("reading the document", whenOther(kernel, digest, terminal.interrupted));
  if (!(await askForMore(context, kernel))) {
    terminal.warn("Nothing was allowed. Start lares chat again to be asked again.");
    return "refused";
  }
  await terminal.progress("starting the steward", whenReady(kernel, terminal.interrupted));
  return "added";
}

/** Resolves when the kernel has read documents that ask for something else. Busy if it does not. */
async function whenOther(kernel: KernelClient, digest: string, signal: AbortSignal): Promise<void> {
  for (let waitedMs = 0; (await kernel.status()).trust.digest === digest; waitedMs += pollMs) {
    if (waitedMs >= patienceMs)
      throw new LaresError("Busy", "The kernel does not take up the changed lares.yaml. Run: lares check");
    await pause(pollMs, undefined, { signal });
  }
}
