import { Type } from "typebox";
import { TraceEntry, TraceLevel } from "../../base/vocabulary/trace.ts";
import { define } from "../define.ts";
import { Limit, Name, When } from "./fields.ts";

export const Subscription = Type.String({ minLength: 1, maxLength: 256 });

export const traceRequests = define({
  "lares/traces/query": {
    params: Type.Object({
      agent: Type.Optional(Name),
      level: Type.Optional(TraceLevel),
      since: Type.Optional(When),
      until: Type.Optional(When),
      text: Type.Optional(
        Type.String({ maxLength: 256, description: "Occurs in the message, case-insensitively" }),
      ),
      limit: Type.Optional(Limit),
    }),
    result: Type.Array(TraceEntry, { description: "Newest first" }),
  },
  "lares/traces/follow": {
    params: Type.Object({ agent: Type.Optional(Name), level: Type.Optional(TraceLevel) }),
    result: Type.Object({ subscription: Subscription }),
  },
  "lares/traces/unfollow": { params: Type.Object({ subscription: Subscription }), result: Type.Null() },
});
