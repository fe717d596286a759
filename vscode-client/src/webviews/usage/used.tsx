import type { ComponentChildren, VNode } from "preact";
import { useAgentName } from "../shared/agent-name.tsx";
import { count, dayName } from "../shared/format.ts";
import { pageLabel } from "../shared/label.ts";
import type { Usage, Used } from "./messages.ts";
import { amountOf, dollars, tokensOf, type Measure } from "./sums.ts";

interface UsedTableProps {
  /** What a row is about. */
  readonly title: string;
  readonly rows: readonly Used[];
  /** The number of rows that are left out. */
  readonly more?: number;
  /** What the bars of rows show; without it there are none. */
  readonly measure?: Measure;
  nameOf(key: string): ComponentChildren;
}

/** Sums, each with its part of all as a bar under its name. */
function UsedTable({ title, rows, more = 0, measure, nameOf }: UsedTableProps): VNode {
  const most = measure === undefined ? 0 : Math.max(...rows.map((row) => amountOf(row, measure)), 0);
  return (
    <>
      <table class="used">
        <thead>
          <tr>
            <th scope="col">{title}</th>
            <th scope="col" class="lesser">
              Requests
            </th>
            <th scope="col">Tokens in</th>
            <th scope="col">Tokens out</th>
            <th scope="col" class="lesser">
              Cached
            </th>
            <th scope="col">Dollars</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key}>
              <th scope="row">
                {nameOf(row.key)}
                {measure !== undefined && amountOf(row, measure) > 0 && (
                  <span class="share" aria-hidden="true">
                    <i style={{ width: `${(amountOf(row, measure) / most) * 100}%` }} />
                  </span>
                )}
              </th>
              <td class="lesser">{count(row.requests)}</td>
              <td>{count(row.input)}</td>
              <td>{count(row.output)}</td>
              <td class="lesser">{row.cached === 0 ? "" : count(row.cached)}</td>
              <td>{row.usd === undefined ? "" : dollars(row.usd)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {more > 0 && <p class="quiet">and {count(more)} more</p>}
    </>
  );
}

interface UsedProps {
  readonly usage: Usage;
  readonly measure: Measure;
}

export function ByModel({ usage: { models }, measure }: UsedProps): VNode {
  return (
    <section aria-label="By model">
      <h2>By model</h2>
      <UsedTable title="Model" {...models} measure={measure} nameOf={(key) => <bdi>{pageLabel(key)}</bdi>} />
    </section>
  );
}

export function ByAgent({ usage: { agents }, measure }: UsedProps): VNode {
  const agentName = useAgentName();
  return (
    <section aria-label="By agent">
      <h2>By agent</h2>
      <UsedTable
        title="Agent"
        {...agents}
        measure={measure}
        nameOf={(key) =>
          key === "" ? (
            <span class="quiet">No agent, such as a test</span>
          ) : (
            <bdi title={pageLabel(key)}>{agentName(key)}</bdi>
          )
        }
      />
    </section>
  );
}

/** The chart as text: the days with requests, newest first. */
export function ByDay({ usage: { days } }: Pick<UsedProps, "usage">): VNode {
  const used = days.filter((day) => day.requests > 0 || tokensOf(day) > 0).toReversed();
  return (
    <details class="by-day">
      <summary>Table of days</summary>
      <UsedTable title="Day (UTC)" rows={used} nameOf={dayName} />
    </details>
  );
}
