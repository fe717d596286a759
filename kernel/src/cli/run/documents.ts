import { setTimeout as pause } from "node:timers/promises";
import { isLaresError } from "../../base/errors.ts";
import type { KernelClient } from "../kernel-client.ts";
import { oneLine } from "../render/foreign.ts";
import type { Status } from "../render/model.ts";
import { acceptPrograms } from "./trust.ts";

const pollMs = 250;

export interface DocumentPorts {
  readonly kernel: Pick<KernelClient, "status" | "question" | "trust">;
  /** The person wants changed programs accepted as they are saved. */
  readonly acceptsPrograms: boolean;
  /** Shows what waits and has it answered; false where the person left it. Null where nobody is there. */
  readonly ask: ((status: Status) => Promise<boolean>) | null;
  remark(text: string): void;
}

/**
 * Follows what the documents and programs ask for while agents run. What widens waits for a yes and is asked, or told
 * where nobody is there, once for each form the documents take. Ends when the signal is aborted.
 */
export async function followDocuments(ports: DocumentPorts, signal: AbortSignal): Promise<void> {
  let answered: string | null = null;
  while (!signal.aborted) {
    const status = await ports.kernel.status();
    const { digest, pending } = status.trust;
    if (pending.length > 0 && digest !== answered && (await isSettled(ports, status))) answered = digest;
    try {
      await pause(pollMs, undefined, { signal });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

/** False where the documents changed again meanwhile, and have to be looked at again. */
async function isSettled(
  { kernel, acceptsPrograms, ask, remark }: DocumentPorts,
  status: Status,
): Promise<boolean> {
  const { digest, pending, changedPrograms } = status.trust;
  const onlyPrograms = acceptsPrograms && changedPrograms.length > 0;
  try {
    if (onlyPrograms) {
      if (!(await acceptPrograms(kernel, digest))) return false;
      for (const id of changedPrograms) remark(`accepted the changed program of ${oneLine(id)} (--watch)`);
    } else if (ask === null) {
      for (const sentence of pending)
        remark(`waits for a yes, and does not count before: ${oneLine(sentence)}`);
      remark("lares run at a terminal asks for it; --trust accepts all of it, --grant a part.");
    } else if (await ask(status)) remark("answered");
    else remark("left as it was; it is asked again when it changes");
    return true;
  } catch (error) {
    if (isLaresError(error, "DigestMismatch")) return false;
    throw error;
  }
}
