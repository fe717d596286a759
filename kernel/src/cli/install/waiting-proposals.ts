import { isLaresError } from "../../base/errors.ts";
import { withReadyKernel, type CommandContext } from "../command.ts";
import { counted } from "../render/quantities.ts";

const removedReason = "Its extension was removed.";
/** More proposals of one agent do not wait at once. */
const maxWaiting = 1_000;

/**
 * Returns the ids of an extension's waiting proposals in this folder; null if the workspace is not trusted, so that its
 * kernel does not list them. A folder that Lares never used has none.
 */
export async function waitingProposals(
  context: CommandContext,
  folder: string,
  agent: string,
): Promise<readonly string[] | null> {
  if (!(await context.ports.hasState(folder))) return [];
  try {
    return await withReadyKernel(context, { folder }, async (kernel) => {
      const waiting = await kernel.actions({ state: "PendingApproval", agent, limit: maxWaiting });
      return waiting.map(({ id }) => id);
    });
  } catch (error) {
    // The person never accepted its requests, or its program has changed since.
    if (isLaresError(error, "Untrusted")) return null;
    throw error;
  }
}

/** Rejects them with the reason. One that was decided meanwhile is left. Returns how many were rejected. */
export async function rejectProposals(
  context: CommandContext,
  folder: string,
  ids: readonly string[],
): Promise<number> {
  if (ids.length === 0) return 0;
  return withReadyKernel(context, { folder }, async (kernel) => {
    let rejected = 0;
    for (const id of ids) {
      try {
        await kernel.reject(id, removedReason);
        rejected += 1;
      } catch (error) {
        if (!isLaresError(error, "IllegalTransition") && !isLaresError(error, "NotFound")) throw error;
      }
    }
    return rejected;
  });
}

/** Returns what a removal does to them. */
export function proposalWords(ids: readonly string[]): string[] {
  if (ids.length === 0) return [];
  return [
    `${counted(ids.length, "change")} of it ${ids.length === 1 ? "waits" : "wait"} for you, and will be rejected.`,
  ];
}
