import { Type, type Static } from "typebox";

export const UsageGrouping = Type.Union(
  [
    Type.Literal("day", { description: "By day (UTC)" }),
    Type.Literal("model", { description: "By model, as `provider/model`" }),
    Type.Literal("agent", { description: "By the agent that asked" }),
    Type.Literal("conversation", { description: "By conversation" }),
  ],
  { description: "What the sums are over", default: "day" },
);
export type UsageGrouping = Static<typeof UsageGrouping>;

const Count = (description: string) => Type.Integer({ minimum: 0, description });

/** What requests to language models used, as one sum. */
export const UsageGroup = Type.Object(
  {
    key: Type.String({
      description:
        "The day, model, agent or conversation; empty for what belongs to no agent or conversation",
    }),
    requests: Count("Requests, with those whose usage is not known yet"),
    input_tokens: Count("Tokens of requests, without those read from a cache or written to one"),
    output_tokens: Count("Tokens of answers, with reasoning"),
    reasoning_tokens: Count("The part of the output that was reasoning"),
    cache_read_tokens: Count("Tokens of requests that the provider read from its cache"),
    cache_write_tokens: Count("Tokens of requests that the provider wrote to its cache"),
    usd: Type.Optional(
      Type.Number({ minimum: 0, description: "US dollars; absent if no model has a known price" }),
    ),
  },
  { description: "What requests to language models used" },
);
export type UsageGroup = Static<typeof UsageGroup>;
