import { performance } from "node:perf_hooks";
import { commands, window } from "vscode";
import type { Kernel } from "../kernel/kernel.ts";
import { label } from "../model/text.ts";

/** The kernel reads changed documents and extensions shortly after they were written. */
const findMs = 30_000;
const pollMs = 300;

/**
 * Opens the page on which the person chooses what an installed extension may do, once the kernel has found this version of it. Does
 * nothing if everything that it requests was answered before.
 */
export async function askWhatItMayDo(
  kernel: Kernel,
  { id, version }: { readonly id: string; readonly version: string },
  patienceMs = findMs,
): Promise<void> {
  const endsAt = performance.now() + patienceMs;
  while (performance.now() < endsAt) {
    // A starting kernel answers with an error.
    const question = await kernel.request("lares/trust/question", {}).catch(() => undefined);
    const card = question?.extensions.find((each) => each.extension === id && each.version === version);
    if (card !== undefined) {
      if (!card.answered) await commands.executeCommand("lares.trustWorkspace");
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  void window.showWarningMessage(
    `${label(id)} ${label(version, 60)} is installed, but the kernel of this workspace has not found it. Look at the problems of lares.yaml.`,
  );
}
