import * as v from "valibot";
import { commonPushes, commonRequests, Count, Nothing, Text } from "../shared/common-state.ts";

/** The periods that can be chosen, in days; the last day is today. */
export const periods = [7, 30, 90] as const;

/** The number of models, and of agents, whose usage has a row; the largest. */
export const maxRows = 50;
/** The number of providers that are listed, of models of each, and of roles. */
export const maxProviders = 50;
export const maxModels = 100;
export const maxRoles = 100;

const Dollars = v.pipe(v.number(), v.minValue(0));

/** What requests used. Tokens are counted as `lares usage` prints them. */
export const Sums = v.object({
  requests: Count,
  input: Count,
  output: Count,
  /** Read from the provider's cache. */
  cached: Count,
  /** Absent if no price is known. */
  usd: v.optional(Dollars),
});
export type Sums = v.InferOutput<typeof Sums>;

/** `key`: the day (UTC, "2026-11-21"), the model or the agent's id, which is empty for what no agent asked. */
export const Used = v.object({ key: Text(400), ...Sums.entries });
export type Used = v.InferOutput<typeof Used>;

export const Usage = v.object({
  /** Each day of the period, also those without requests; oldest first. */
  days: v.pipe(v.array(Used), v.maxLength(periods[2])),
  /** The largest first; `more`: the number of others. */
  models: v.object({ rows: v.pipe(v.array(Used), v.maxLength(maxRows)), more: Count }),
  agents: v.object({ rows: v.pipe(v.array(Used), v.maxLength(maxRows)), more: Count }),
  /** Some of the models have no known price, so their requests are not in the dollars. */
  hasUnpriced: v.boolean(),
});
export type Usage = v.InferOutput<typeof Usage>;

export const Model = v.object({
  /** `provider/model` */
  id: Text(400),
  contextTokens: v.optional(Count),
  /** For a million tokens. */
  inputUsd: v.optional(Dollars),
  outputUsd: v.optional(Dollars),
  /** The roles that it has. */
  roles: v.pipe(v.array(Text(80)), v.maxLength(maxRoles)),
});
export type Model = v.InferOutput<typeof Model>;

export const Provider = v.object({
  id: Text(80),
  api: Text(40),
  state: v.picklist(["ready", "no_key", "unreachable", "unknown"]),
  isLocal: v.boolean(),
  foundBy: v.optional(Text(400)),
  /** Those with a role first. */
  models: v.pipe(v.array(Model), v.maxLength(maxModels)),
  more: Count,
});
export type Provider = v.InferOutput<typeof Provider>;

export const Catalog = v.object({
  providers: v.pipe(v.array(Provider), v.maxLength(maxProviders)),
  moreProviders: Count,
  /** Which model does what. */
  roles: v.pipe(v.array(v.object({ name: Text(80), model: Text(400) })), v.maxLength(maxRoles)),
});
export type Catalog = v.InferOutput<typeof Catalog>;

/** `message`: why it does not answer. */
export const TestOutcome = v.variant("ok", [
  v.object({ ok: v.literal(true), firstTokenMs: Count }),
  v.object({ ok: v.literal(false), message: Text(1_000) }),
]);
export type TestOutcome = v.InferOutput<typeof TestOutcome>;

export const usageContract = {
  requests: {
    ...commonRequests,
    usage: { params: v.object({ days: v.picklist(periods) }), result: Usage },
    /** `refresh`: the providers are asked which models they have. */
    catalog: { params: v.object({ refresh: v.boolean() }), result: Catalog },
    /** Sends a short request, which counts as usage. */
    test: { params: v.object({ model: Text(400) }), result: TestOutcome },
    /** Asks for a secret by the editor's own boxes. Returns once it is stored, or was not. */
    storeSecret: { params: Nothing, result: Nothing },
  },
  pushes: {
    ...commonPushes,
    /** There may be other usage. Sent at most once in `minChangeMs`. */
    changed: Nothing,
  },
};
export type UsageContract = typeof usageContract;
