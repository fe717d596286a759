import { Type } from "typebox";
import { closed, Json } from "../../../base/vocabulary/common.ts";
import { define } from "../../define.ts";
import { Name, Nothing } from "./fields.ts";

/** Events that an agent emits to others. */
export const eventCalls = define({
  "events/emit": {
    about:
      "Emits an event to other agents, `publisher.id/name` with this agent's id. It is delivered to agents that have a hook on it and list it under `hear_events`. If the manifest declares it, `data` is checked against the declaration, and the event carries its `version`. An event that is emitted under another agent's call carries that call's chain: what its handlers do is bounded by everybody on the way.",
    errors: {
      PermissionDenied:
        "The agent has no `emit_events`, it does not list the event, or the manifest declares others.",
      InvalidParams:
        "`data` is not an object, or does not fit the declaration: `path` says where, as in `params.data.person`.",
      LimitExceeded:
        "`data` is over 65,536 characters of JSON, or takes too long to check; or eight calls and events led to this one (`event_depth`).",
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
