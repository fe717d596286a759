import type { CpuBudget } from "../../base/cpu-budget.ts";
import type { Slices } from "../../base/slices.ts";
import { isLaresError, LaresError, permissionDenied } from "../../base/errors.ts";
import type { Authority } from "../../base/vocabulary/permissions.ts";
import { decideApproval, prepareApproval, type ApprovalSubject } from "../../policy/approval.ts";
import type { FolderListing } from "../content-requests.ts";
import { inSlices } from "../in-slices.ts";
import type { ActionRecord } from "../action-record.ts";
import type { ActionPorts } from "../ports.ts";

interface RestraintMeans {
  /** Indices of the effects to apply. */
  readonly chosen: readonly number[];
  readonly slices: Slices;
  /** Pays for listing and matching. */
  readonly budget: CpuBudget;
}

/**
 * Returns why the person's own rules, or protections that no extension may pass, forbid these effects, no matter who
 * approved them; null if nothing does. Checks all members of folders that are moved.
 */
export async function restraintNow(
  ports: Pick<ActionPorts, "contents" | "settings">,
  authority: Authority,
  record: ActionRecord,
  { chosen, slices, budget }: RestraintMeans,
): Promise<LaresError | null> {
  const effects: ApprovalSubject[] = [];
  for (const index of chosen) {
    const subject = record.subjects[index];
    const operation = record.operations[index];
    if (subject === undefined) continue;
    if (operation?.do !== "move" || operation.kind !== "folder") {
      effects.push(subject);
      continue;
    }
    const listing = await listedNow(ports, authority, operation, budget);
    // A folder that cannot be listed is not moved.
    if (listing instanceof LaresError) return listing;
    const { members, hash, protections } = listing;
    // The commit refuses a folder that is no longer the one that was proposed.
    if (hash !== operation.content) continue;
    const isClosed = protections.includes("forbidden");
    effects.push({ ...subject, members, protection: isClosed ? "forbidden" : subject.protection });
  }
  const question = { agent: record.action.agent, effects, impact: 0, impactThisHour: 0 };
  const settings = ports.settings();
  try {
    await inSlices(prepareApproval(question, settings), slices, budget);
  } catch (error) {
    // An action that could not be checked against the rules is not carried out.
    if (isLaresError(error, "LimitExceeded")) return error;
    throw error;
  }
  const { decide, because } = decideApproval(question, settings);
  return decide === "deny" ? permissionDenied(record.action.agent, "propose_actions", because) : null;
}

async function listedNow(
  { contents }: Pick<ActionPorts, "contents">,
  { protectedPaths, forbiddenPaths }: Authority,
  { from, to }: { readonly from: string; readonly to: string },
  budget: CpuBudget,
): Promise<FolderListing | LaresError> {
  try {
    return await contents.list(from, { to, places: { protectedPaths, forbiddenPaths } }, budget);
  } catch (error) {
    if (error instanceof LaresError) return error;
    throw error;
  }
}
