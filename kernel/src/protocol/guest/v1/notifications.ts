import { Type } from "typebox";
import { closed } from "../../../base/vocabulary/common.ts";
import { TraceLevel } from "../../../base/vocabulary/trace.ts";
import { defineParams } from "../../define.ts";

/** Guest → kernel without an answer. */
export const guestNotifications = defineParams({
  trace: {
    about:
      "Writes a line into the agent's traces, where `lares/traces/query` finds it. At most 200 in a second; a line says how many were dropped.",
    params: Type.Object(
      {
        level: TraceLevel,
        message: Type.String({ maxLength: 16_384, description: "What happened" }),
        fields: Type.Optional(
          Type.Record(Type.String(), Type.Unknown(), { description: "More about it, by name" }),
        ),
      },
      closed,
    ),
  },
  cancel: {
    about:
      "Takes back a host call of this guest. It is answered all the same: what had not begun, and what only reads, waits or calls a tool, with `RequestCancelled`; what changes something is finished, and answered with its result. An id that no open call has means nothing, since the answer may be on its way.",
    params: Type.Object(
      {
        id: Type.Union([Type.String({ maxLength: 128 }), Type.Number()], {
          description: "The `id` of the call's message",
        }),
      },
      closed,
    ),
  },
});
