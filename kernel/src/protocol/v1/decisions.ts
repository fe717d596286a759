import { Type } from "typebox";
import { Decision } from "../../base/vocabulary/action.ts";
import { define } from "../define.ts";
import { Name } from "./fields.ts";

export const decisionRequests = define({
  /** What the person answered with "always", and the rules that they wrote into decisions.yaml; newest first. */
  "lares/decisions/list": {
    params: Type.Object({}),
    result: Type.Object({ items: Type.Array(Decision) }),
  },
  /** Revokes a decision and returns it once the revocation is on the disk. NotFound if there is no such decision. */
  "lares/decisions/revoke": { params: Type.Object({ id: Name }), result: Decision },
});
