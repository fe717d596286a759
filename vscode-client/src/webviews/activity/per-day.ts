import { dayOf, lastDays } from "../shared/days.ts";
import type { ActionLine, AgentFigures } from "./messages.ts";
import { outcomeOf, type Outcome } from "./sentences.ts";

/** One bar: a day, and how much of each kind. */
export interface DayBar<Kind extends string> {
  readonly day: string;
  readonly counts: Readonly<Record<Kind, number>>;
}

/** Actions by the day they were proposed on, and by what became of them. */
export function actionsPerDay(
  actions: readonly ActionLine[],
  nowMs: number,
  days: number,
): DayBar<Outcome>[] {
  const bars = lastDays(nowMs, days).map((day) => ({
    day,
    counts: { applied: 0, waiting: 0, rejected: 0, failed: 0, undone: 0 },
  }));
  const byDay = new Map(bars.map((bar) => [bar.day, bar]));
  for (const { created, state } of actions) {
    const bar = byDay.get(dayOf(created) ?? "");
    if (bar !== undefined) bar.counts[outcomeOf(state)]++;
  }
  return bars;
}

/** What an agent, or all of them, remembered on each of the last days. */
export function rememberedPerDay(
  agents: readonly Pick<AgentFigures, "remembered">[],
  nowMs: number,
  days: number,
): DayBar<"remembered">[] {
  return lastDays(nowMs, days).map((day) => {
    const counts = agents.map(({ remembered }) => (remembered === undefined ? 0 : countOn(remembered, day)));
    return { day, counts: { remembered: counts.reduce((sum, count) => sum + count, 0) } };
  });
}

function countOn(groups: Readonly<Record<string, number>>, day: string): number {
  return Object.entries(groups).reduce((sum, [name, count]) => (name.startsWith(day) ? sum + count : sum), 0);
}
