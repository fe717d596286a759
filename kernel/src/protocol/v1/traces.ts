import { Type } from "typebox";
import { TraceEntry, TraceLevel } from "../../base/vocabulary/trace.ts";
import { define } from "../define.ts";
import { Limit, Named, OfAgent, When } from "./fields.ts";

export const Subscription = Type.String({
  minLength: 1,
  maxLength: 256,
  description: "Identifies what is followed, on this connection",
});

const After = (description: string) => Type.Optional(Named(description));

const Level = Type.Optional(
  Type.Union(TraceLevel.anyOf, { description: "Only traces of this level and above; default all levels" }),
);

export const traceRequests = define({
  "lares/traces/query": {
    about: "Returns traces that match every given field, newest first.",
    errors: {},
    params: Type.Object({
      agent: OfAgent,
      level: Level,
      since: Type.Optional(When("Only traces from then on")),
      until: Type.Optional(When("Only traces up to then")),
      after: After(
        "Only traces that were written after the one with this `span_id`, or after this `cursor` of `lares/traces/follow`",
      ),
      text: Type.Optional(
        Type.String({ maxLength: 256, description: "Occurs in the message, case-insensitively" }),
      ),
      limit: Type.Optional(Limit),
    }),
    result: Type.Array(TraceEntry, { description: "Newest first; the newest 2 MiB where they are more" }),
  },
  "lares/traces/follow": {
    about:
      "Sends new traces to this client as `lares/traces/entry`, until `lares/traces/unfollow` or the end of the connection. A client that does not read loses the oldest ones.\n\nWith `after`, the traces that were written since come first: each once and in order, at most the newest 10,000 and 2 MiB of them. So a client that follows again, with the `span_id` of the last trace that it got or else with `cursor`, misses nothing and gets nothing twice. `lares serve` does this by itself when the kernel is replaced.",
    errors: { LimitExceeded: "This client follows 64 traces already." },
    params: Type.Object({
      agent: OfAgent,
      level: Level,
      after: After(
        "Where an earlier subscription ended: the `span_id` of its last trace, or its `cursor`; default now",
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
