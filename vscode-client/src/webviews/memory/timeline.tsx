import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { binsOf, endOf } from "../shared/days.ts";
import { counted, dayName } from "../shared/format.ts";
import { useAsked, useChanged, useNow, useSettled } from "../shared/hooks.ts";
import { Failed, Notice } from "../shared/notice.tsx";
import { PathLinks } from "../shared/paths.tsx";
import { pageLabel } from "../shared/label.ts";
import { summaryOf } from "../shared/text.ts";
import { Time } from "../shared/time.tsx";
import { Data } from "./data.tsx";
import { Histogram } from "./histogram.tsx";
import { maxBars, pageSize, type TimelineEvent } from "./messages.ts";
import type { TabProps } from "./tab-props.ts";

/** Events, as recorded by the agent. */
export function Timeline({ host, kept, keep, whose }: TabProps): VNode {
  const text = useSettled(kept.text.trim());
  const [offset, setOffset] = useState(0);
  const filter = {
    ...whose,
    ...(kept.variant !== "" && { variant: kept.variant }),
    ...(text !== "" && { text }),
  };
  const { from, to } = kept.days ?? {};
  const filterKey = JSON.stringify([filter, from, to]);
  useEffect(() => setOffset(0), [filterKey]);
  const groups = useAsked(host, "histogram", filter);
  const page = useAsked(host, "timeline", {
    ...filter,
    ...(from !== undefined && { since: `${from}T00:00:00.000Z` }),
    ...(to !== undefined && { until: endOf(to) }),
    offset,
  });
  const nowMs = useNow();
  const days = groups.asked.kind === "ready" ? groups.asked.value.days : {};
  const variants = groups.asked.kind === "ready" ? groups.asked.value.variants : {};
  const names = [...new Set([...Object.keys(variants), ...(kept.variant === "" ? [] : [kept.variant])])];
  const filtered = kept.variant !== "" || text !== "" || kept.days !== undefined;
  // On older pages the list stays unchanged; new events are counted in the bars above, and announced.
  const [hasNewer, setHasNewer] = useState(false);
  const isNewest = offset === 0;
  useChanged(host, groups.asked, groups.again);
  useChanged(host, page.asked, isNewest ? page.again : () => setHasNewer(true));
  useEffect(() => setHasNewer(false), [isNewest, filterKey]);
  const again = (): void => {
    groups.again();
    page.again();
  };

  return (
    <>
      <div class="filters">
        <input
          type="search"
          class="grow"
          placeholder="Search in what happened"
          aria-label="Text in an event"
          maxLength={1_000}
          value={kept.text}
          onInput={({ currentTarget: { value } }) => keep({ text: value })}
        />
        <select
          aria-label="Variant"
          value={kept.variant}
          onChange={({ currentTarget: { value } }) => keep({ variant: value })}
        >
          <option value="">All variants</option>
          {names.map((name) => (
            <option key={name} value={name}>
              {pageLabel(name, 40)} {variants[name] === undefined ? "" : `(${variants[name]})`}
            </option>
          ))}
        </select>
      </div>
      <Histogram bins={binsOf(days, maxBars)} chosen={kept.days} onChoose={(days) => keep({ days })} />
      {kept.days !== undefined && (
        <p class="chosen-days">
          {dayName(kept.days.from)}
          {kept.days.from === kept.days.to ? "" : ` – ${dayName(kept.days.to)}`}{" "}
          <button type="button" class="link" onClick={() => keep({ days: undefined })}>
            Show all days
          </button>
        </p>
      )}
      {page.asked.kind === "loading" && <Notice kind="busy" title="Loading…" />}
      {page.asked.kind === "failed" && <Failed message={page.asked.message} again={again} />}
      {page.asked.kind === "ready" && page.asked.value.total === 0 && (
        <Notice title={filtered ? "No event matches." : "Nothing is remembered yet."}>
          {filtered ? (
            <button
              type="button"
              class="secondary"
              onClick={() => keep({ text: "", variant: "", days: undefined })}
            >
              Clear Filters
            </button>
          ) : (
            <p class="quiet">Events appear here as the agent writes them down.</p>
          )}
        </Notice>
      )}
      {page.asked.kind === "ready" && page.asked.value.total > 0 && (
        <section aria-label="Events" aria-busy={page.asked.stale}>
          <p class="quiet count">
            {counted(page.asked.value.total, "event")}, newest first{" "}
            {hasNewer && (
              <button type="button" class="link" onClick={() => setOffset(0)}>
                Show What Is New
              </button>
            )}
          </p>
          <ul class="events">
            {page.asked.value.items.map((event) => (
              <EventRow key={event.id} host={host} event={event} nowMs={nowMs} />
            ))}
          </ul>
          <Pager offset={offset} total={page.asked.value.total} onPage={setOffset} />
        </section>
      )}
    </>
  );
}

interface RowProps extends Pick<TabProps, "host"> {
  readonly event: TimelineEvent;
  readonly nowMs: number;
}

function EventRow({ host, event, nowMs }: RowProps): VNode {
  const [open, setOpen] = useState(false);
  const { variant, timestamp, data, cut = false } = event;
  return (
    <li>
      <details open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <span class="badge" title={pageLabel(variant, 128)}>
            <bdi>{pageLabel(variant, 40)}</bdi>
          </span>
          <Time iso={timestamp} nowMs={nowMs} />
          <span class="summary-text">
            <bdi>{summaryOf(data)}</bdi>
          </span>
        </summary>
        {open && <Data data={data} cut={cut} />}
      </details>
      <PathLinks host={host} value={data} />
    </li>
  );
}

interface PagerProps {
  readonly offset: number;
  readonly total: number;
  onPage(offset: number): void;
}

function Pager({ offset, total, onPage }: PagerProps): VNode | null {
  if (total <= pageSize) return null;
  const last = Math.min(offset + pageSize, total);
  return (
    <nav class="pager" aria-label="Pages">
      <button
        type="button"
        class="secondary"
        disabled={offset === 0}
        onClick={() => onPage(Math.max(0, offset - pageSize))}
      >
        Newer
      </button>
      <span class="quiet">
        {offset + 1}–{last} of {total}
      </span>
      <button
        type="button"
        class="secondary"
        disabled={last >= total}
        onClick={() => onPage(offset + pageSize)}
      >
        Older
      </button>
    </nav>
  );
}
