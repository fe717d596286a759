import { Type } from "typebox";
import { Decision } from "../../base/vocabulary/approval-rule.ts";
import { define } from "../define.ts";
import { Named } from "../../base/vocabulary/request-fields.ts";

export const decisionRequests = define({
  "lares/decisions/list": {
    about:
      'Returns the decisions that a person made with "always", the rules that they wrote into `decisions.yaml` by hand, and the schedules of minds that they accepted; newest first.',
    errors: {},
    params: Type.Object({}),
    result: Type.Object({ items: Type.Array(Decision, { description: "The decisions, newest first" }) }),
  },
  "lares/decisions/revoke": {
    about:
      "Revokes a decision and returns it once the revocation is on the disk. Later proposals are asked again, and a schedule runs no more. An action that this decision allowed, and whose commit has not begun, goes back to the person.",
    errors: { NotFound: "There is no decision with this `id`." },
    params: Type.Object({ id: Named("The decision's id") }),
    result: Decision,
  },
});
