import { Type } from "typebox";
import { Action } from "../../base/vocabulary/action.ts";
import { Agent } from "../../base/vocabulary/agent.ts";
import { AgentNotification, NotificationState } from "../../base/vocabulary/notification.ts";
import { Named } from "../../base/vocabulary/request-fields.ts";
import { define } from "../define.ts";

/** How many ids one request may dismiss: as many as the kernel keeps. */
const maxDismissed = 200;

/** Notifications of agents that the kernel keeps for the person. */
export const notificationRequests = define({
  "lares/notifications/list": {
    about:
      "Returns what agents said to the person, the latest first, page by page. The kernel keeps 50 notifications of each agent and 200 altogether, for 30 days. An agent may send 10 at once and then one in 6 seconds, all together 40 and then one a second; the others are counted in a notification with `held_back`.",
    errors: {},
    params: Type.Object({
      state: Type.Optional(
        Type.Union(NotificationState.anyOf, { description: "Only those in this state; default all" }),
      ),
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 200, default: 50, description: "How many to answer at most" }),
      ),
      cursor: Type.Optional(Named("`cursor` of the page before; default the first page")),
    }),
    result: Type.Object({
      items: Type.Array(AgentNotification, { description: "The notifications" }),
      total: Type.Integer({ minimum: 0, description: "How many there are, on all pages" }),
      cursor: Type.Optional(
        Type.String({ description: "Where the next page begins; absent if this page was not full" }),
      ),
    }),
  },
  "lares/notifications/dismiss": {
    about:
      "Marks notifications as seen, in a person's name. A client names those that it showed. Ids that are not known any more are ignored. What a notification proposes still waits.",
    errors: { PermissionDenied: "Only a person can dismiss notifications." },
    params: Type.Object({
      ids: Type.Array(Named("A notification's id"), {
        minItems: 1,
        maxItems: maxDismissed,
        description: "The ids of what was seen",
      }),
    }),
    result: Type.Object({
      dismissed: Type.Integer({ minimum: 0, description: "How many of them were new" }),
    }),
  },
  "lares/notifications/act": {
    about:
      "Uses the button of a notification, in a person's name: returns the action that it proposes, and marks the notification as seen. If that action expired, went stale or failed, its changes are proposed again by `actions/propose` with what the agent, and those on whose behalf it acted, may do now. Nothing is changed by this: the action waits for its approval, unless a rule of the person decides it. An action that was decided is returned as it is. With `schedule`, the suspended schedule is resumed instead, and its agent is returned.",
    errors: {
      NotFound: "There is no such notification, or its agent is no longer there.",
      IllegalTransition:
        "It proposes nothing, its schedule is not suspended or no longer there, or its action has ended and its changes were too large to keep. `data.state` says how the action ended.",
      PermissionDenied: "Only a person can do it; or the agent may no longer make one of the changes.",
      ScopeViolation: "A path leaves the workspace or lies in no location that is granted now.",
      AgentError: "The agent is disabled or suspended, or cannot run.",
    },
    params: Type.Object({ id: Named("The notification's id") }),
    result: Type.Union([
      Action,
      Type.Object(
        { resumed: Agent },
        { description: "For a notification with `schedule`: the agent whose schedule runs again" },
      ),
    ]),
  },
});
