import { Type } from "typebox";
import { LevelAndAbove, TraceEntry, TraceQuery } from "../../base/vocabulary/trace.ts";
import { define } from "../define.ts";
import { Named, OfAgent } from "../../base/vocabulary/request-fields.ts";

export const Subscription = Type.String({
  minLength: 1,
  maxLength: 256,
  description: "Identifies what is followed, on this connection",
});

export const traceRequests = define({
  "lares/traces/query": {
    about: "Returns traces that match every given field, newest first.",
    errors: {},
    params: TraceQuery,
    result: Type.Array(TraceEntry, { description: "Newest first; at most the newest 2 MiB" }),
  },
  "lares/traces/follow": {
    about:
      "Sends new traces to this client as `lares/traces/entry`, until `lares/traces/unfollow` or the end of the connection. A client that does not read loses the oldest ones.\n\nWith `after`, the traces that were written since come first: each once and in order, at most the newest 10,000 and 2 MiB of them. So a client that follows again, with the `span_id` of the last trace that it got or else with `cursor`, misses nothing and gets nothing twice. `lares serve` does this by itself when the kernel is replaced.",
    errors: { LimitExceeded: "This client follows 64 traces and conversations already." },
    params: Type.Object({
      agent: OfAgent,
      level: LevelAndAbove,
      inspect: Type.Optional(
        Type.Boolean({
          description:
            "Also trace each step of the agent, or of all agents, at level debug while the subscription lasts: their `step` is `begin`, `call` (a host call) or `end`. Events are then delivered one by one. Default false",
        }),
      ),
      after: Type.Optional(
        Named(
          "Where an earlier subscription ended: the `span_id` of its last trace, or its `cursor`; default now",
        ),
      ),
    }),
    result: Type.Object({
      subscription: Subscription,
      cursor: Type.String({ description: "Where this subscription begins, for `after`" }),
    }),
  },
  "lares/traces/unfollow": {
    about: "Ends a subscription of this connection. An unknown one is ignored.",
    errors: {},
    params: Type.Object({ subscription: Subscription }),
    result: Type.Null(),
  },
});
