import type { VNode } from "preact";
import { dayName } from "../shared/format.ts";
import type { Used } from "./messages.ts";
import { amountOf, briefly, chartText, dayText, dollars, type Measure } from "./sums.ts";

interface ChartProps {
  readonly days: readonly Used[];
  readonly measure: Measure;
}

/** The smallest height of a bar that stands for something, in percent. */
const minHeight = 2;

/** A bar for each day. Everything it shows is in the table of days, too. */
export function Chart({ days, measure }: ChartProps): VNode {
  const most = Math.max(...days.map((day) => amountOf(day, measure)), 0);
  const [first, last] = [days[0], days.at(-1)];
  return (
    <div class="chart" role="img" aria-label={chartText(days, measure)}>
      <p class="most quiet">{measure === "tokens" ? `${briefly(most)} tokens` : dollars(most)}</p>
      <div class="bars">
        {days.map((day) => {
          const amount = amountOf(day, measure);
          const height = Math.max(minHeight, (amount / most) * 100);
          return (
            <div key={day.key} class="day-bar" title={dayText(day)}>
              {amount > 0 && <i style={{ height: `${height}%` }} />}
            </div>
          );
        })}
      </div>
      <p class="ends quiet">
        <span>{first === undefined ? "" : dayName(first.key)}</span>
        <span>{last === undefined ? "" : `${dayName(last.key)} (UTC)`}</span>
      </p>
    </div>
  );
}
