import { Type } from "typebox";
import { EffectInput } from "../../../base/vocabulary/action.ts";
import { maxEffectsPerAction } from "../../../base/vocabulary/bounds.ts";
import { closed, Severity } from "../../../base/vocabulary/common.ts";
import { define } from "../../define.ts";
import { Nothing } from "./fields.ts";

/** Messages of an agent to a person. */
export const notifyCalls = define({
  notify: {
    about:
      "Shows a person a message, and with `action` proposes these changes along with it. The answer comes once the message is stored: it waits for a person who is not there. Messages with the same title and severity are one with a count, until somebody has seen it. At most 5 in a second; of more than 10 in a row, or than one in 6 seconds on average, the person only gets the number, and `action` is proposed all the same. It may also be sent as a notification, without an id.",
    errors: {
      PermissionDenied: "The agent may not make one of the changes of `action`.",
      ScopeViolation: "A path of `action` leaves the workspace or lies in no granted location.",
      LimitExceeded: "There were more than 5 in this second.",
    },
    params: Type.Object(
      {
        title: Type.String({ minLength: 1, maxLength: 200, description: "The headline" }),
        message: Type.String({ maxLength: 4000, description: "The message, as plain text" }),
        severity: Severity,
        action: Type.Optional(
          Type.Array(EffectInput, {
            minItems: 1,
            maxItems: maxEffectsPerAction,
            description: "Changes that the person may approve from the message",
          }),
        ),
      },
      closed,
    ),
    result: Nothing,
  },
});
