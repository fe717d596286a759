import type { History, HistoryItem, HistoryQuery, Operator, When } from "../types/memory.ts";
import type { Kernel } from "./kernel.ts";

interface Where {
  readonly field: string;
  readonly op: Operator | "near";
  readonly value: unknown;
}

type Filter = Readonly<Record<string, unknown>> & { readonly where?: readonly Where[] };
type Paging = { readonly order?: "asc" | "desc"; readonly limit?: number };

export function makeHistory<Shape>(kernel: Kernel, shared: { namespace?: string }): History<Shape> {
  return {
    append: async (variant, data, { timestamp } = {}) => {
      const at = timestamp === undefined ? {} : { timestamp: timeOf(timestamp) };
      const { id } = await kernel.call<{ id: string }>("memory/temporal/append", {
        ...shared,
        variant,
        data,
        ...at,
      });
      return id;
    },
    query: () => makeQuery<Shape>(kernel, { ...shared }, {}),
  };
}

function makeQuery<Data>(kernel: Kernel, filter: Filter, paging: Paging): HistoryQuery<Data> {
  const and = (more: Filter): HistoryQuery<Data> => makeQuery(kernel, { ...filter, ...more }, paging);
  const where = (field: string, op: Operator, value: unknown): HistoryQuery<Data> =>
    and({ where: [...(filter.where ?? []), { field, op, value }] });
  return {
    variant: (variant) => and({ variant }),
    since: (when) => and({ since: timeOf(when) }),
    between: (from, until) => and({ since: timeOf(from), until: timeOf(until) }),
    whereText: (field, match) => and({ text: { field, match } }),
    where,
    whereField: (field, value) => where(field, "eq", value),
    orderByTime: (order) => makeQuery(kernel, filter, { ...paging, order }),
    limit: (limit) => makeQuery(kernel, filter, { ...paging, limit }),
    collect: async () =>
      (await kernel.call<{ items: HistoryItem<Data>[] }>("memory/temporal/query", { ...filter, ...paging }))
        .items,
    count: async () => (await kernel.call<{ count: number }>("memory/temporal/count", filter)).count,
  };
}

/** Ages ("7d") and ISO dates go as they are. */
function timeOf(when: When): string {
  return typeof when === "string" ? when : new Date(when).toISOString();
}
