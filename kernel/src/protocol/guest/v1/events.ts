import { Type } from "typebox";
import { closed, Json } from "../../../base/vocabulary/common.ts";
import { define } from "../../define.ts";
import { Name, Nothing } from "./fields.ts";

/** Events that an agent emits to others. */
export const eventCalls = define({
  "events/emit": {
    about:
      "Emits an event to other agents, `publisher.id/name` with this agent's id. It is delivered to agents that have a hook on it and list it under `hear_events`.",
    errors: {
      PermissionDenied: "The agent has no `emit_events`, or it does not list the event.",
      LimitExceeded: "`data` is over 65,536 characters of JSON.",
    },
    params: Type.Object(
      {
        name: Name("The event's name, without the publisher"),
        data: Json("An object, whose fields become the event's"),
      },
      closed,
    ),
    result: Nothing,
  },
});
