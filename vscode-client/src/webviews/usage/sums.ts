import { count, counted, dayName } from "../shared/format.ts";
import type { Sums, Used } from "./messages.ts";

/** What the bars of days and the shares of rows show. */
export type Measure = "tokens" | "dollars";

export const tokensOf = ({ input, output, cached }: Sums): number => input + output + cached;

export function amountOf(sums: Sums, measure: Measure): number {
  return measure === "tokens" ? tokensOf(sums) : (sums.usd ?? 0);
}

export function totalOf(all: readonly Sums[]): Sums {
  const sum = (of: (sums: Sums) => number): number => all.reduce((total, sums) => total + of(sums), 0);
  return {
    requests: sum(({ requests }) => requests),
    input: sum(({ input }) => input),
    output: sum(({ output }) => output),
    cached: sum(({ cached }) => cached),
    ...(all.some(({ usd }) => usd !== undefined) ? { usd: sum(({ usd = 0 }) => usd) } : {}),
  };
}

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const cents = new Intl.NumberFormat("en", { style: "currency", currency: "USD" });
const parts = new Intl.NumberFormat("en", { style: "currency", currency: "USD", maximumFractionDigits: 4 });

/** "1.2M" */
export const briefly = (tokens: number): string => compact.format(tokens);

/** "$3.40"; of less than ten cents four digits: "$0.0042". */
export function dollars(usd: number): string {
  if (usd >= 0.1 || usd === 0) return cents.format(usd);
  return usd < 0.0001 ? "under $0.0001" : parts.format(usd);
}

function amountText(sums: Sums, measure: Measure): string {
  return measure === "tokens" ? counted(tokensOf(sums), "token") : dollars(sums.usd ?? 0);
}

/** "Sat, Nov 21 (UTC): 12 requests, 3,400 tokens, $0.02" */
export function dayText(day: Used): string {
  const facts = [
    counted(day.requests, "request"),
    counted(tokensOf(day), "token"),
    ...(day.usd === undefined ? [] : [dollars(day.usd)]),
  ];
  return `${dayName(day.key)} (UTC): ${day.requests === 0 ? "nothing" : facts.join(", ")}`;
}

/** Says in one sentence what the bars show. */
export function chartText(days: readonly Used[], measure: Measure): string {
  const used = days.filter(({ requests }) => requests > 0);
  const highest = used.toSorted((one, other) => amountOf(other, measure) - amountOf(one, measure))[0];
  const what = measure === "tokens" ? "Tokens" : "Dollars";
  if (highest === undefined) return `${what} by day: none.`;
  return `${what} by day: used on ${count(used.length)} of ${counted(days.length, "day")}, most on ${dayName(highest.key)} with ${amountText(highest, measure)}. The table of days has each of them.`;
}
