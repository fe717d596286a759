import { setTimeout as pause } from "node:timers/promises";
import { isLaresError } from "../../base/errors.ts";
import type { KernelClient } from "../kernel-client.ts";
import { oneLine } from "../render/foreign.ts";
import type { Status } from "../render/model.ts";
import { acceptPrograms } from "./trust.ts";

const pollMs = 250;

interface DocumentPorts {
  readonly kernel: Pick<KernelClient, "status" | "question" | "trust">;
  /** Accept changed programs as they are saved. */
  readonly acceptsPrograms: boolean;
  /**
   * Shows what waits and asks; resolves with false if the person gave no answer. Null if nobody is at the terminal.
   */
  readonly ask: ((status: Status) => Promise<boolean>) | null;
  remark(text: string): void;
}

/**
 * Watches what the documents and programs request while agents run. A wider request is asked, or reported if nobody is
 * at the terminal, once for each version of the documents. Ends when the signal is aborted.
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

/** Returns false if the documents changed again meanwhile and have to be examined again. */
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
        remark(`waits for your consent, and has no effect until then: ${oneLine(sentence)}`);
      remark(
        "Run lares run at a terminal to be asked, or use --trust to accept everything, or --grant for a part.",
      );
    } else if (await ask(status)) remark("answered");
    else remark("not accepted; you are asked again when it changes");
    return true;
  } catch (error) {
    if (isLaresError(error, "DigestMismatch")) return false;
    throw error;
  }
}
