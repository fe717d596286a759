import type { ResultOf } from "../protocol.ts";
import {
  maxModels,
  maxProviders,
  maxRoles,
  maxRows,
  type Catalog,
  type Model,
  type Usage,
  type Used,
} from "../webviews/usage/messages.ts";

type Groups = ResultOf<"lares/usage">["groups"];
type Group = Groups[number];
type Listing = ResultOf<"lares/models/list">;

const dayMs = 86_400_000;

/** Returns the last `days` days (UTC), oldest first; the last one is today. */
export function lastDays(days: number, nowMs: number): string[] {
  return Array.from({ length: days }, (_, index) =>
    new Date(nowMs - (days - 1 - index) * dayMs).toISOString().slice(0, 10),
  );
}

/** Returns what the page of usage shows; `days`: those of the period. */
export function usageOf(
  days: readonly string[],
  { byDay, byModel, byAgent }: { readonly byDay: Groups; readonly byModel: Groups; readonly byAgent: Groups },
): Usage {
  const known = new Map(byDay.map((group) => [group.key, group]));
  return {
    days: days.map((key) => usedOf(known.get(key) ?? { ...nothing, key })),
    models: largest(byModel),
    agents: largest(byAgent),
    hasUnpriced: byModel.some(({ usd }) => usd === undefined),
  };
}

const nothing = { requests: 0, input_tokens: 0, output_tokens: 0, cache_read_tokens: 0 };

function usedOf(group: typeof nothing & Pick<Group, "key" | "usd">): Used {
  return {
    key: group.key.slice(0, 400),
    requests: group.requests,
    input: group.input_tokens,
    output: group.output_tokens,
    cached: group.cache_read_tokens,
    ...(group.usd === undefined ? {} : { usd: group.usd }),
  };
}

/** By dollars, then by tokens: what costs most is looked for first. */
function largest(groups: Groups): Usage["models"] {
  const tokens = (group: Group): number => group.input_tokens + group.output_tokens + group.cache_read_tokens;
  const sorted = groups.toSorted(
    (one, other) => (other.usd ?? 0) - (one.usd ?? 0) || tokens(other) - tokens(one),
  );
  return { rows: sorted.slice(0, maxRows).map(usedOf), more: Math.max(0, sorted.length - maxRows) };
}

/** Returns providers with their models, those with a role first, and the roles. */
export function catalogOf({ providers, models, routes }: Listing): Catalog {
  const roles = Object.entries(routes).slice(0, maxRoles);
  const rolesOf = (id: string): string[] =>
    roles.filter(([, model]) => model === id).map(([name]) => name.slice(0, 80));
  return {
    providers: providers.slice(0, maxProviders).map(({ id, api, state, local, found_by: foundBy }) => {
      const own = models
        .filter((model) => model.id.startsWith(`${id}/`))
        .map((model): Model => ({
          id: model.id.slice(0, 400),
          ...(model.context_tokens === undefined ? {} : { contextTokens: model.context_tokens }),
          ...(model.input_usd_per_mtok === undefined ? {} : { inputUsd: model.input_usd_per_mtok }),
          ...(model.output_usd_per_mtok === undefined ? {} : { outputUsd: model.output_usd_per_mtok }),
          roles: rolesOf(model.id),
        }));
      const sorted = [
        ...own.filter((model) => model.roles.length > 0),
        ...own.filter((model) => model.roles.length === 0),
      ];
      return {
        id: id.slice(0, 80),
        api,
        state,
        isLocal: local,
        ...(foundBy === undefined ? {} : { foundBy: foundBy.slice(0, 400) }),
        models: sorted.slice(0, maxModels),
        more: Math.max(0, sorted.length - maxModels),
      };
    }),
    moreProviders: Math.max(0, providers.length - maxProviders),
    roles: roles.map(([name, model]) => ({ name: name.slice(0, 80), model: model.slice(0, 400) })),
  };
}
