import {
  isLaresError,
  LaresError,
  illegalTransition,
  messageOf,
  permissionDenied,
} from "../../base/errors.ts";
import { canonicalJson } from "../../base/json.ts";
import type { ApprovalDecision } from "../../policy/approval.ts";
import { mustBe, type ActionRecord } from "../action-record.ts";
import { isDrift } from "../commit/committer.ts";
import { noLongerKept } from "../content.ts";
import type { Proposals, StoredProposal } from "./proposals.ts";
import { authorityNow, planAgain, toMerge, type ReplanPorts } from "./replan.ts";
import type { Staleness } from "../waiting/staleness.ts";

/** Proposes the changes of a stale action again, merged with the current workspace; see `Actions.rebase`. */
export async function rebase(
  ports: ReplanPorts & { readonly staleness: Staleness },
  stale: ActionRecord,
): Promise<StoredProposal> {
  const { id, agent, rebasable } = stale.action;
  mustBe(stale.action, "Stale", "rebased");
  if (rebasable !== true) throw notRebasable(stale);
  const authority = authorityNow(ports, agent);
  using recorded = ports.staleness.recordChanges();
  const effects = await toMerge(ports.objects, stale);
  try {
    const planned = await planAgain(ports, authority, stale, effects, {
      given: { supersedes: id, rebased_by: "user" },
    });
    checkMayMerge(stale, planned.record);
    // Awaited here, because `recorded` has to collect changes until the action is stored and followed.
    return await ports.proposals.store(planned, (record) => askAbout(record, ports.proposals), recorded);
  } catch (error) {
    throw noLongerApplies(error);
  }
}

/** Nobody has seen the merged text, so a person is asked even if the rules would allow it. */
function askAbout(record: ActionRecord, proposals: Proposals): ApprovalDecision {
  const decision = proposals.decide(record);
  if (decision.decide === "deny")
    throw permissionDenied(record.action.agent, "propose_actions", decision.because);
  const because = "it was merged, and nobody has seen the result";
  const basis = { sentence: "It was merged with a newer text, and nobody has seen the result." };
  return { decide: "ask", because, basis, rules: [], byImpact: false };
}

function notRebasable(
  { action: { id, superseded_by: by }, contentsKept, agentView }: ActionRecord,
  planned?: ActionRecord,
): LaresError {
  if (by !== undefined)
    return illegalTransition(
      "Stale",
      `The action ${id} was already superseded by ${by}. Decide on that one.`,
    );
  if (!contentsKept) return noLongerKept(id);
  const why =
    planned !== undefined || agentView !== null
      ? "it touches, or may touch, files that its agent cannot see, and the agent would learn that they exist. Let the agent propose it again"
      : "it changes a file that is not text or is too long, so the changes cannot be merged";
  return new LaresError("Stale", `The action ${id} cannot be rebased: ${why}.`);
}

/**
 * Throws Stale if the rebase would let the agent infer that something which it cannot see exists, or existed: the agent
 * learns that the first action failed and that the second one succeeded.
 */
function checkMayMerge(stale: ActionRecord, planned: ActionRecord): void {
  if (stale.agentView === null && planned.agentView === null) return;
  if ([stale, planned].some(({ agentView }) => agentView !== null && agentView.sawAll !== true))
    throw notRebasable(stale, planned);
  // The agent sees everything that the action touches, then and now, so only something hidden can have been in the way.
  if (canonicalJson(stale.operations) === canonicalJson(planned.operations))
    throw new LaresError(
      "Stale",
      `The action ${stale.action.id} cannot be rebased: nothing that its agent can see has changed since it was proposed. Let the agent propose it again.`,
    );
}

/** Returns the error for a plan whose changes were possible once: Stale if they no longer apply. */
function noLongerApplies(error: unknown): unknown {
  if (!isDrift(error) && !isLaresError(error, "InvalidParams")) return error;
  return isLaresError(error, "Stale")
    ? error
    : new LaresError("Stale", `The change no longer applies: ${messageOf(error)}`, {}, { cause: error });
}
