import type { VNode } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useAgentName } from "../shared/agent-name.tsx";
import { counted } from "../shared/format.ts";
import { failureOf, useFocus, usePush, useSettled, useCommonState } from "../shared/hooks.ts";
import { Failed, Notice, WhileRunning } from "../shared/notice.tsx";
import type { PageProps } from "../shared/page.tsx";
import { TraceDetails } from "./details.tsx";
import { firstPathOf } from "./fields.ts";
import { ages, keptOf, type Kept } from "./kept.ts";
import { TraceList } from "./list.tsx";
import type { Entry, TracesContract } from "./messages.ts";
import { placeIn } from "./place.ts";
import { RangeInputs } from "./range-inputs.tsx";
import { localMinute, spanOf } from "./range.ts";
import { fromQuery, lineOf, matching, noRows, withEntries, type Rows } from "./rows.ts";

/** The default length of a range, which ends now. */
const offeredRangeMs = 3_600_000;

/** Live traces of agents. */
export function TracesView({ host, editor }: PageProps<TracesContract>): VNode {
  const commonState = useCommonState(host);
  const [kept, setKept] = useState(() => keptOf(editor.kept));
  const keep = (changes: Partial<Kept>): void => setKept((before) => ({ ...before, ...changes }));
  useEffect(() => editor.keep(kept), [editor, kept]);
  useFocus(host, (agent) => keep({ agent }));
  return (
    <WhileRunning host={host} commonState={commonState}>
      <Traces host={host} kept={kept} keep={keep} agents={commonState?.agents.map(({ id }) => id) ?? []} />
    </WhileRunning>
  );
}

interface TracesProps extends Pick<PageProps<TracesContract>, "host"> {
  readonly kept: Kept;
  readonly agents: readonly string[];
  keep(changes: Partial<Kept>): void;
}

function Traces({ host, kept, keep, agents }: TracesProps): VNode {
  const { agent, level, age } = kept;
  const text = useSettled(kept.text);
  const range = useSettled(kept.range);
  const span = useMemo(() => (range === undefined ? {} : spanOf(range, Date.now())), [range]);
  const problem = "problem" in span ? span : undefined;
  const { since = age, until } = "problem" in span ? {} : span;
  // A range that ended before now is queried but not followed.
  const isOver = until !== undefined && Date.parse(until) <= Date.now();
  const [rows, setRows] = useState<Rows>(noRows);
  const [state, setState] = useState<"loading" | "ready" | { readonly failed: string }>("loading");
  const [paused, setPaused] = useState(false);
  const [away, setAway] = useState(false);
  const [selected, setSelected] = useState<number>();
  const [round, setRound] = useState(0);

  // Entries that arrived while the list was paused; shown when it continues.
  const waiting = useRef<Rows>(noRows);
  const [waitingCount, setWaitingCount] = useState(0);
  const holding = useRef(true);
  usePush(host, "entries", ({ entries: pushed, dropped }) => {
    const entries = until === undefined ? pushed : pushed.filter(({ timestamp }) => timestamp <= until);
    if (holding.current) {
      waiting.current = withEntries(waiting.current, entries, dropped);
      setWaitingCount(waiting.current.rows.length + waiting.current.collapsed);
    } else {
      setRows((before) => withEntries(before, entries, dropped));
    }
  });
  const release = useCallback(() => {
    const { rows, collapsed } = waiting.current;
    const entries = rows.map(({ entry }) => entry);
    waiting.current = noRows;
    setWaitingCount(0);
    setRows((before) => withEntries(before, entries, collapsed));
  }, []);

  useEffect(() => {
    if (problem !== undefined) return;
    let current = true;
    holding.current = true;
    waiting.current = noRows;
    setWaitingCount(0);
    setState("loading");
    setSelected(undefined);
    const filter = { ...(agent && { agent }), ...(level && { level }) };
    const load = async (): Promise<void> => {
      // Following begins first, so that an entry written between the two requests is in at least one of them.
      if (isOver) await host.ask("unfollow", {});
      else await host.ask("follow", filter);
      const found = await host.ask("query", {
        ...filter,
        ...(since && { since }),
        ...(until && { until }),
        ...(text !== "" && { text }),
      });
      if (!current) return;
      setRows(fromQuery(found, waiting.current));
      waiting.current = noRows;
      setWaitingCount(0);
      holding.current = false;
      setPaused(false);
      setState("ready");
    };
    load().catch((error: unknown) => {
      if (current) setState({ failed: failureOf(error).message });
    });
    return () => {
      current = false;
    };
  }, [host, agent, level, since, until, isOver, problem !== undefined, text, round]);

  const shown = useMemo(
    () => matching(rows.rows, { agent, level, text: kept.text }),
    [rows, agent, level, kept.text],
  );
  const chosen = shown.find(({ key }) => key === selected)?.entry;
  const copy = (entries: readonly Entry[]): void => {
    const text = entries.map(lineOf).join("\n").slice(0, 900_000);
    host.ask("copy", { text }).catch((error: unknown) => setState({ failed: failureOf(error).message }));
  };
  const pause = (): void => {
    holding.current = !paused;
    if (paused) release();
    setPaused(!paused);
  };

  return (
    <div class={`traces ${agent === undefined ? "" : "one-agent"}`}>
      <Toolbar kept={kept} agents={agents} keep={keep}>
        <button type="button" class="secondary" aria-pressed={paused} disabled={isOver} onClick={pause}>
          {paused
            ? `Continue${waitingCount > 0 ? ` (${counted(waitingCount, "new", "new")})` : ""}`
            : "Pause"}
        </button>
        <button
          type="button"
          class="link"
          disabled={shown.length === 0}
          onClick={() => copy(shown.map(({ entry }) => entry))}
        >
          Copy All
        </button>
        <button type="button" class="link" disabled={rows.rows.length === 0} onClick={() => setRows(noRows)}>
          Clear
        </button>
      </Toolbar>
      {kept.range !== undefined && (
        <RangeInputs range={kept.range} problem={problem} onChange={(range) => keep({ range })} />
      )}
      {rows.collapsed > 0 && (
        <p class="collapsed quiet" role="status">
          … {counted(rows.collapsed, "earlier entry is", "earlier entries are")} not shown here; the kernel's
          trace file has all of them.
        </p>
      )}
      {state === "loading" && problem === undefined && rows.rows.length === 0 && (
        <Notice kind="busy" title="Loading traces…" />
      )}
      {typeof state === "object" && <Failed message={state.failed} again={() => setRound(round + 1)} />}
      {state === "ready" && shown.length === 0 && (
        <Notice title="No traces match.">
          <p class="quiet">
            They appear here as agents work. Debug traces are shown when that level is chosen.
          </p>
        </Notice>
      )}
      {shown.length > 0 && (
        <TraceList
          rows={shown}
          selected={selected}
          follow={!paused && !away && selected === undefined}
          onSelect={setSelected}
          onScrolledAway={setAway}
          onCopy={({ entry }) => copy([entry])}
          onOpen={({ entry }) => {
            const place = placeIn(entry.fields);
            if (place !== undefined) return void host.ask("openPlace", place).catch(() => undefined);
            const path = firstPathOf(entry.fields);
            // The editor itself shows why it failed.
            if (path !== undefined) host.ask("openPath", { path }).catch(() => undefined);
          }}
        />
      )}
      {chosen !== undefined && (
        <TraceDetails
          host={host}
          entry={chosen}
          onCopy={() => copy([chosen])}
          onClose={() => setSelected(undefined)}
        />
      )}
    </div>
  );
}

interface ToolbarProps {
  readonly kept: Kept;
  readonly agents: readonly string[];
  readonly children: VNode[];
  keep(changes: Partial<Kept>): void;
}

function Toolbar({ kept, agents, keep, children }: ToolbarProps): VNode {
  const nameOf = useAgentName();
  const known = kept.agent === undefined || agents.includes(kept.agent) ? agents : [kept.agent, ...agents];
  return (
    <div class="toolbar" role="toolbar" aria-label="Which traces">
      <select
        aria-label="Agent"
        value={kept.agent ?? ""}
        onChange={({ currentTarget: { value } }) => keep({ agent: value === "" ? undefined : value })}
      >
        <option value="">All agents</option>
        {known.map((id) => (
          <option key={id} value={id}>
            {nameOf(id)}
          </option>
        ))}
      </select>
      <select
        aria-label="Level"
        value={kept.level ?? "debug"}
        onChange={({ currentTarget: { value } }) => keep({ level: value as NonNullable<Kept["level"]> })}
      >
        <option value="debug">All levels</option>
        <option value="info">Info and above</option>
        <option value="warn">Warnings and errors</option>
        <option value="error">Errors</option>
      </select>
      <select
        aria-label="Time"
        value={kept.range === undefined ? (kept.age ?? "") : "range"}
        onChange={({ currentTarget: { value } }) =>
          keep({
            age: ages.find((age) => age === value),
            range: value === "range" ? { from: localMinute(Date.now() - offeredRangeMs), to: "" } : undefined,
          })
        }
      >
        <option value="">Any time</option>
        <option value="15m">Last 15 minutes</option>
        <option value="1h">Last hour</option>
        <option value="24h">Last 24 hours</option>
        <option value="7d">Last 7 days</option>
        <option value="range">From … to …</option>
      </select>
      <input
        type="search"
        class="grow"
        placeholder="Filter by text"
        aria-label="Text in the message"
        maxLength={256}
        value={kept.text}
        onInput={({ currentTarget: { value } }) => keep({ text: value })}
      />
      {children}
    </div>
  );
}
