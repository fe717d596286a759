import { exitCodes, type CommandContext } from "../command.ts";
import type { KernelClient } from "../kernel-client.ts";
import { counted } from "../render/quantities.ts";
import { Approvals } from "./approvals.ts";
import { askAboutAction } from "./ask.ts";
import { wholeAction } from "./whole-action.ts";

const maxWaiting = 1_000;

/** Asks about one waiting change after the other, at a terminal that cannot be drawn on. */
export async function reviewInLines({ terminal }: CommandContext, kernel: KernelClient): Promise<number> {
  const waiting = await kernel.actions({ state: "PendingApproval", limit: maxWaiting });
  if (waiting.length === 0) {
    terminal.print("No change waits for you.");
    return exitCodes.ok;
  }
  terminal.print(`${counted(waiting.length, "change")} ${waiting.length === 1 ? "waits" : "wait"} for you.`);
  const approvals = new Approvals("ask", {
    kernel,
    ask: async (action, left) => askAboutAction(terminal, await wholeAction(kernel, action), left),
    remark: (text) => terminal.warn(text),
    quit: () => undefined,
  });
  for (const action of waiting.toReversed()) approvals.offer(action);
  await approvals.settled();
  return terminal.interrupted.aborted ? terminal.interruptedCode : exitCodes.ok;
}
