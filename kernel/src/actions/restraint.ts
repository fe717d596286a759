import { unlimitedCpu } from "../base/cpu-budget.ts";
import type { Slices } from "../base/slices.ts";
import { LaresError, permissionDenied } from "../base/errors.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import { decideApproval, prepareApproval, type ApprovalSubject } from "../policy/approval.ts";
import type { FolderListing } from "./content-requests.ts";
import { inSlices } from "./in-slices.ts";
import type { ActionRecord } from "./ledger.ts";
import type { ActionPorts } from "./ports.ts";

/**
 * Why the person's own rules, or what is closed to every extension, keep these effects from being made, whoever
 * approved them; null where nothing does. Looks at all members of folders that are moved.
 */
export async function restraintNow(
  ports: Pick<ActionPorts, "contents" | "settings">,
  authority: Authority,
  record: ActionRecord,
  chosen: readonly number[],
  slices: Slices,
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
    const listing = await listedNow(ports, authority, operation);
    // What cannot be looked at is not moved.
    if (listing instanceof LaresError) return listing;
    const { members, hash, protections } = listing;
    // What is no longer the folder that was proposed is not moved.
    if (hash !== operation.content) continue;
    const isClosed = protections.includes("forbidden");
    effects.push({ ...subject, members, protection: isClosed ? "forbidden" : subject.protection });
  }
  const question = { agent: record.action.agent, effects, impact: 0, impactThisHour: 0 };
  const settings = ports.settings();
  await inSlices(prepareApproval(question, settings), slices, unlimitedCpu);
  const { decide, because } = decideApproval(question, settings);
  return decide === "deny" ? permissionDenied(record.action.agent, "propose_actions", because) : null;
}

async function listedNow(
  { contents }: Pick<ActionPorts, "contents">,
  { protectedPaths, forbiddenPaths }: Authority,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<FolderListing | LaresError> {
  try {
    return await contents.list(from, { to, places: { protectedPaths, forbiddenPaths } }, unlimitedCpu);
  } catch (error) {
    if (error instanceof LaresError) return error;
    throw error;
  }
}
