import { Type } from "typebox";
import { AgentAction, Proposal, ProposalRequest } from "../../../base/vocabulary/action.ts";
import { closed } from "../../../base/vocabulary/common.ts";
import { define } from "../../define.ts";

const ActionId = Type.Object(
  { id: Type.String({ minLength: 1, maxLength: 128, description: "The id of an action of this agent" }) },
  closed,
);

const planning = {
  PermissionDenied:
    "The agent may not make one of these changes: `propose_actions`, `write_tags`, `write_custom_fields` or `write_sidecars` is missing or does not list it.",
  ScopeViolation: "A path leaves the workspace or lies in no granted location.",
  NotFound: "A file or folder that an effect needs does not exist for this agent.",
  Stale: "A file is not what the effect's `expected` says, or changed while it was read.",
  InvalidParams:
    "An effect cannot be made: a `find` is absent or ambiguous, or the target exists. Also as for any call.",
};
const noAction = "This agent has proposed no action with this `id`.";

export const actionCalls = define({
  "actions/preview": {
    about:
      "Plans an action and returns it with the diffs of its effects, and stores nothing. The action says what `actions/propose` would begin from and leave.",
    errors: { ...planning, LimitExceeded: "The action is too large to plan." },
    params: Proposal,
    result: AgentAction,
  },
  "actions/propose": {
    about:
      "Proposes an action and returns it at once, without waiting for a decision. It is `Committed` already where policy allows it, `Rejected` where a rule denies it, and `PendingApproval` otherwise. It supersedes an action of this agent that waits and changes the very same things: the same paths, and beside an entry the same tag, field or sidecar. What was proposed on behalf of one process of a mind is not superseded on behalf of another.",
    errors: {
      ...planning,
      LimitExceeded: "The action is too large, or as many actions of this agent wait as may.",
      IllegalTransition:
        "The action that `supersedes` names has ended, was approved meanwhile, or is superseded by another one.",
    },
    params: ProposalRequest,
    result: AgentAction,
  },
  "actions/get": {
    about: "Returns an action that this agent proposed, as the agent may see it.",
    errors: { NotFound: noAction },
    params: ActionId,
    result: AgentAction,
  },
  "actions/settled": {
    about:
      "Waits until an action of this agent has ended and returns it. The event `ActionEnded` tells the same without an open call.",
    errors: { NotFound: noAction, Busy: "The kernel ends. Ask again when it runs." },
    params: ActionId,
    result: AgentAction,
  },
  "actions/withdraw": {
    about:
      "Withdraws an action of this agent that waits for a person, because what it is for no longer holds. It becomes `Rejected`, decided by `policy`, with a reason that says so, and nothing of it is applied.",
    errors: { NotFound: noAction, IllegalTransition: "The action does not wait any more." },
    params: ActionId,
    result: AgentAction,
  },
});
