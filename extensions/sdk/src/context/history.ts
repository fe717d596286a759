import type { CallOptions } from "../types/call.ts";
import type { History, HistoryItem, HistoryQuery } from "../types/memory.ts";
import { nearby, timeOf, withCondition } from "./conditions.ts";
import type { CallParams, Kernel } from "./kernel.ts";

type Paging = Pick<CallParams<"memory/temporal/query">, "order" | "limit" | "offset">;
type Question = Omit<CallParams<"memory/temporal/query">, keyof Paging>;

export function makeHistory<Shape>(kernel: Kernel, shared: { namespace?: string }): History<Shape> {
  return {
    append: async (variant, data, { timestamp, ...place } = {}) => {
      const at = timestamp === undefined ? {} : { timestamp: timeOf(timestamp) };
      const { id } = await kernel.call("memory/temporal/append", {
        ...shared,
        variant,
        data,
        ...at,
        ...place,
      });
      return id;
    },
    query: () => makeQuery<Shape, Shape>(kernel, { ...shared }, {}),
  };
}

function makeQuery<Data, Shape>(kernel: Kernel, filter: Question, paging: Paging): HistoryQuery<Data, Shape> {
  const asking = <Found = Data>(more: Question): HistoryQuery<Found, Shape> =>
    makeQuery<Found, Shape>(kernel, { ...filter, ...more }, paging);
  const paged = (more: Paging): HistoryQuery<Data, Shape> =>
    makeQuery(kernel, filter, { ...paging, ...more });
  const page = async (options?: CallOptions): Promise<{ items: HistoryItem<Data>[]; total: number }> => {
    const { items, total } = await kernel.call("memory/temporal/query", { ...filter, ...paging }, options);
    return { items: items as HistoryItem<Data>[], total };
  };
  return {
    variant: (variant) => asking({ variant }),
    since: (when) => asking({ since: timeOf(when) }),
    until: (when) => asking({ until: timeOf(when) }),
    between: (from, until) => asking({ since: timeOf(from), until: timeOf(until) }),
    whereText: (first: string, second?: string) =>
      asking({ text: second === undefined ? { match: first } : { field: first, match: second } }),
    where: (field, op, value) => asking(withCondition(filter, { field, op, value })),
    whereField: (field, value) => asking(withCondition(filter, { field, op: "eq", value })),
    near: (field, position, km) => asking(withCondition(filter, nearby(field, position, km))),
    orderByTime: (order) => paged({ order }),
    limit: (limit) => paged({ limit }),
    offset: (offset) => paged({ offset }),
    collect: async (options) => (await page(options)).items,
    page,
    count: async (options) => (await kernel.call("memory/temporal/count", filter, options)).count,
    countBy: async (group, options) => {
      const params = { ...filter, group_by: group };
      const { groups } = await kernel.call("memory/temporal/count", params, options);
      return groups ?? {};
    },
  };
}
