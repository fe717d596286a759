import type { UsageGroup, UsageGrouping } from "../../base/vocabulary/usage.ts";
import { oneLine } from "./foreign.ts";
import type { Surface } from "./style.ts";
import { renderTable } from "./table.ts";

const titles: Readonly<Record<UsageGrouping, string>> = {
  day: "Day",
  model: "Model",
  agent: "Agent",
  conversation: "Conversation",
};
const counts = ["requests", "input_tokens", "output_tokens", "cache_read_tokens"] as const;

/** Renders sums by day, model, agent or conversation, and their total. */
export function renderUsage(by: UsageGrouping, groups: readonly UsageGroup[], surface: Surface): string[] {
  const { style } = surface;
  if (groups.length === 0) return [style.dim("No language model was used.")];
  const number = (count: number): string => (count === 0 ? "" : count.toLocaleString("en"));
  // The same decimals in all rows, so that the points stand under each other.
  const decimals = groups.every(({ usd = 0 }) => usd < 1) ? 4 : 2;
  const row = (key: string, sums: Pick<UsageGroup, (typeof counts)[number] | "usd">): string[] => [
    key,
    ...counts.map((count) => number(sums[count])),
    sums.usd === undefined ? "" : dollars(sums.usd, decimals),
  ];
  const total = (count: (typeof counts)[number]): number =>
    groups.reduce((sum, group) => sum + group[count], 0);
  const priced = groups.flatMap(({ usd }) => (usd === undefined ? [] : [usd]));
  const totals = {
    requests: total("requests"),
    input_tokens: total("input_tokens"),
    output_tokens: total("output_tokens"),
    cache_read_tokens: total("cache_read_tokens"),
    ...(priced.length === 0 ? {} : { usd: priced.reduce((sum, usd) => sum + usd, 0) }),
  };
  const unpriced = groups.length - priced.length;
  return [
    ...renderTable(
      [
        { title: titles[by], flexible: true },
        { title: "Requests", align: "right" },
        { title: "Tokens in", align: "right" },
        { title: "Tokens out", align: "right" },
        { title: "Cached", align: "right" },
        { title: "Dollars", align: "right" },
      ],
      [
        ...groups.map((group) => row(group.key === "" ? style.dim(`no ${by}`) : oneLine(group.key), group)),
        ...(groups.length > 1 ? [row(style.bold("Total"), totals)] : []),
      ],
      surface,
    ),
    ...(unpriced === 0 ? [] : [style.dim("Without dollars: the price of the model is not known.")]),
  ];
}

/** An amount that would be rounded to nothing is shown as less than the smallest one. */
function dollars(usd: number, decimals: number): string {
  if (usd === 0) return "free";
  const smallest = 10 ** -decimals;
  return usd > 0 && usd < smallest
    ? `<$${smallest.toFixed(decimals)}`
    : `$${usd.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals })}`;
}
