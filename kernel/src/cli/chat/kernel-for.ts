import { basename } from "node:path";
import { UsageError } from "../command.ts";
import { KernelClient } from "../kernel-client.ts";
import type { CliPorts, KernelConnection } from "../ports.ts";
import { oneLine } from "../render/foreign.ts";
import type { Status } from "../render/model.ts";

/** A script that answers instead of a model, for one run of this command. */
interface WantedRehearsal {
  /** Absolute path. */
  readonly script: string;
  readonly run: string;
}

/** A kernel may end between being found and being asked, once for each that is in the way. */
const attempts = 4;

/**
 * Joins the folder's kernel, or starts it: one that asks the person's models, or the one that rehearses as wanted. Ends
 * another one that only waits for its next client. UsageError, with what to do, if that has others or is at work.
 */
export async function kernelFor(
  ports: Pick<CliPorts, "connect" | "stopKernel">,
  folder: string,
  wanted: WantedRehearsal | null,
): Promise<KernelConnection> {
  for (let attempt = 1; ; attempt++) {
    const connection = await ports.connect({ folder });
    const status = await new KernelClient(connection).status().catch(async (error: unknown) => {
      await connection[Symbol.asyncDispose]();
      if (attempt === attempts) throw error;
      return null;
    });
    if (status === null) continue;
    if (isWanted(status, wanted)) return connection;
    await connection[Symbol.asyncDispose]();
    const isSpare = status.clients <= 1 && !status.lasting;
    if (!isSpare || attempt === attempts) throw new UsageError(inTheWay(status));
    await ports.stopKernel([folder]);
  }
}

function isWanted({ rehearsal, clients }: Status, wanted: WantedRehearsal | null): boolean {
  if (rehearsal === undefined || wanted === null) return rehearsal === undefined && wanted === null;
  // In another terminal the same script is rehearsed: both see how far it is.
  return rehearsal.script === wanted.script && (rehearsal.run === wanted.run || clients > 1);
}

/** Returns what keeps a kernel running, and how a person ends it. */
function inTheWay({ rehearsal, clients, pid }: Status): string {
  const what =
    rehearsal === undefined
      ? `The kernel of this folder (process ${pid}) asks your own models`
      : `The kernel of this folder (process ${pid}) rehearses ${oneLine(basename(rehearsal.script))}`;
  return clients > 1
    ? `${what}, and ${clients === 2 ? "an editor or another terminal uses" : `${clients - 1} editors or terminals use`} it. Close them, or end it with lares stop, and try again.`
    : `${what}, and it was started to stay or is at work. End it with lares stop, and try again.`;
}
