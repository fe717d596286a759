import { Type } from "typebox";
import { Action, Proposal, ProposalRequest } from "../../../base/vocabulary/action.ts";
import { closed } from "../../../base/vocabulary/common.ts";
import { define } from "../../define.ts";

const ActionId = Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) }, closed);

export const actionCalls = define({
  /** Kept nowhere. */
  "actions/preview": { params: Proposal, result: Action },
  /**
   * Already Committed where policy allowed it, else PendingApproval; does not wait. Supersedes the agent's action that
   * waits and changes the very same things: the same paths, and beside an entry the same tag, field or sidecar.
   */
  "actions/propose": { params: ProposalRequest, result: Action },
  "actions/get": { params: ActionId, result: Action },
  /** Answers when the action has ended. */
  "actions/settled": { params: ActionId, result: Action },
});
