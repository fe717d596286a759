import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { counted } from "../shared/format.ts";
import { useAsked, useChanged, useCommonState } from "../shared/hooks.ts";
import type { Host } from "../shared/host.ts";
import { Notice, Pending, WhileRunning } from "../shared/notice.tsx";
import type { PageProps } from "../shared/page.tsx";
import { Chart } from "./chart.tsx";
import { keptOf, type Kept } from "./kept.ts";
import { periods, type Usage, type UsageContract } from "./messages.ts";
import { Models } from "./models.tsx";
import { briefly, dollars, totalOf, type Measure } from "./sums.ts";
import { ByAgent, ByDay, ByModel } from "./used.tsx";

/** What language models used, and which models there are. */
export function UsageView({ host, editor }: PageProps<UsageContract>): VNode {
  const commonState = useCommonState(host);
  const [kept, setKept] = useState(() => keptOf(editor.kept));
  useEffect(() => editor.keep(kept), [editor, kept]);
  return (
    <WhileRunning host={host} commonState={commonState}>
      <main class="usage">
        <Used host={host} kept={kept} keep={(changes) => setKept((before) => ({ ...before, ...changes }))} />
        <Models host={host} />
      </main>
    </WhileRunning>
  );
}

interface KeptProps {
  readonly kept: Kept;
  keep(changes: Partial<Kept>): void;
}

function Used({ host, kept, keep }: KeptProps & { readonly host: Host<UsageContract> }): VNode {
  const { asked, again } = useAsked(host, "usage", { days: kept.days });
  useChanged(host, asked, again);
  if (asked.kind !== "ready") return <Pending asked={asked} again={again} />;
  return <UsagePage usage={asked.value} kept={kept} keep={keep} />;
}

const measures: readonly { readonly name: Measure; readonly label: string }[] = [
  { name: "tokens", label: "Tokens" },
  { name: "dollars", label: "Dollars" },
];

export function UsagePage({ usage, kept, keep }: KeptProps & { readonly usage: Usage }): VNode {
  const total = totalOf(usage.days);
  // Bars without height would say that nothing was used.
  const hasCost = (total.usd ?? 0) > 0;
  const measure = hasCost ? kept.measure : "tokens";
  return (
    <section aria-label="Usage">
      <header class="head">
        <h1>Usage</h1>
        <span class="choices" role="group" aria-label="Period">
          {periods.map((days) => (
            <button
              key={days}
              type="button"
              class="choice"
              aria-pressed={kept.days === days}
              onClick={() => keep({ days })}
            >
              {days} days
            </button>
          ))}
        </span>
      </header>
      {total.requests === 0 ? (
        <Notice title={`No language model was used in the last ${kept.days} days.`}>
          <p class="quiet">Tokens and dollars appear here, for all workspaces, once an agent asks a model.</p>
        </Notice>
      ) : (
        <>
          <dl class="totals">
            {total.usd !== undefined && <Total name="Dollars" value={dollars(total.usd)} />}
            <Total name="Tokens in" value={briefly(total.input)} />
            <Total name="Tokens out" value={briefly(total.output)} />
            {total.cached > 0 && <Total name="Cached" value={briefly(total.cached)} />}
            <Total name="Requests" value={briefly(total.requests)} />
          </dl>
          {usage.hasUnpriced && (
            <p class="quiet">
              {total.usd === undefined
                ? "No dollars: the prices of these models are not known."
                : "The dollars are without the models whose price is not known."}
            </p>
          )}
          {hasCost && (
            <div class="choices" role="group" aria-label="What the bars show">
              {measures.map(({ name, label }) => (
                <button
                  key={name}
                  type="button"
                  class="choice"
                  aria-pressed={measure === name}
                  onClick={() => keep({ measure: name })}
                >
                  {label}
                </button>
              ))}
            </div>
          )}
          <Chart days={usage.days} measure={measure} />
          <ByDay usage={usage} />
          <ByModel usage={usage} measure={measure} />
          <ByAgent usage={usage} measure={measure} />
          <p class="quiet">
            Of all your workspaces: {counted(total.requests, "request")}, counted by days of UTC.
          </p>
        </>
      )}
    </section>
  );
}

function Total({ name, value }: { readonly name: string; readonly value: string }): VNode {
  return (
    <div>
      <dt class="quiet">{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
