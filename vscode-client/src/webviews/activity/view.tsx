import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { pageLabel } from "../shared/label.ts";
import { AgentName, useAgentName } from "../shared/agent-name.tsx";
import { counted } from "../shared/format.ts";
import { useAsked, useChanged, useNow, usePush, useCommonState } from "../shared/hooks.ts";
import type { Host } from "../shared/host.ts";
import { Icon, type IconName } from "../shared/icon.tsx";
import { Notice, Pending, WhileRunning } from "../shared/notice.tsx";
import type { PageProps } from "../shared/page.tsx";
import { line } from "../shared/text.ts";
import { Time } from "../shared/time.tsx";
import { AgentList } from "./agents.tsx";
import {
  dayAfter,
  dayDate,
  dayTitle,
  entriesOf,
  hasHappened,
  localDay,
  summaryOfDay,
  verbOf,
  type Entry,
  type Show,
} from "./entries.ts";
import type { ActionLine, ActivityContract, Failure, Overview } from "./messages.ts";

/** The number of entries that are drawn at first, and added with each press of the button. */
const entriesPerStep = 50;

interface Props {
  readonly host: Host<ActivityContract>;
}

/** What agents did, day by day, with undo. */
export function ActivityView({ host }: Pick<PageProps<ActivityContract>, "host">): VNode {
  const commonState = useCommonState(host);
  usePush(host, "remind", ({ title, body }) => {
    // The desktop editor permits notifications; a browser asks first, and never permits them for an embedded page.
    if (typeof Notification !== "function" || Notification.permission !== "granted") return;
    const shown = new Notification(line(title, 200), { body: line(body, 500), tag: "lares" });
    shown.addEventListener("click", () => shown.close());
  });
  return (
    <WhileRunning host={host} commonState={commonState}>
      <Activity host={host} />
    </WhileRunning>
  );
}

function Activity({ host }: Props): VNode {
  const { asked, again } = useAsked(host, "overview", {});
  const nowMs = useNow();
  useChanged(host, asked, again);
  if (asked.kind !== "ready") return <Pending asked={asked} again={again} />;
  return <OverviewPage host={host} overview={asked.value} nowMs={nowMs} />;
}

interface OverviewProps extends Props {
  readonly overview: Overview;
  readonly nowMs: number;
}

export function OverviewPage({ host, overview, nowMs }: OverviewProps): VNode {
  const { actions, agents } = overview;
  const nameOf = useAgentName();
  const today = localDay(nowMs);
  const [chosen, setDay] = useState<string>();
  const [show, setShow] = useState<Show>("everything");
  const [agent, setAgent] = useState("");
  const [steps, setSteps] = useState(1);
  const day = chosen ?? today;
  useEffect(() => setSteps(1), [day, show, agent]);
  if (agents.length === 0 && actions.length === 0)
    return (
      <Notice title="No agents yet.">
        <p class="quiet">What agents do appears here once lares.yaml names one.</p>
      </Notice>
    );
  const entries = entriesOf(overview, { day, show, agent });
  const all = entriesOf(overview, { day, show: "everything", agent: "" });
  const shown = entries.slice(0, steps * entriesPerStep);
  const waiting = actions.filter((action) => !hasHappened(action)).length;
  const move = (days: number): void => {
    const next = dayAfter(day, days);
    setDay(next >= today ? undefined : next);
  };
  return (
    <main class="activity">
      <section class="who" aria-label="Agents">
        <h2>Agents</h2>
        <AgentList host={host} overview={overview} />
      </section>
      <section class="day" aria-label="What happened">
        <header class="day-head">
          <h1>{dayTitle(day, today)}</h1>
          <span class="day-choice">
            <button type="button" class="square" aria-label="The day before" onClick={() => move(-1)}>
              ‹
            </button>
            <span class="small quiet">{dayDate(day)}</span>
            <button
              type="button"
              class="square"
              aria-label="The day after"
              disabled={day === today}
              onClick={() => move(1)}
            >
              ›
            </button>
          </span>
        </header>
        <p>{summaryOfDay(all, agents, day === today)}</p>
        {waiting > 0 && day === today && (
          <p class="asks">
            <Icon name="bell" />
            <button
              type="button"
              class="link"
              onClick={() => void host.ask("showApprovals", {}).catch(() => undefined)}
            >
              {waiting === 1 ? "1 change waits for you" : `${waiting} changes wait for you`}
            </button>
          </p>
        )}
        <div class="filters" role="group" aria-label="Show">
          {shows.map(({ name, label }) => (
            <button
              key={name}
              type="button"
              class="filter"
              aria-pressed={show === name}
              onClick={() => setShow(name)}
            >
              {label}
            </button>
          ))}
          <select
            aria-label="Agent"
            value={String(agents.findIndex(({ id }) => id === agent))}
            onChange={({ currentTarget: { value } }) => setAgent(agents[Number(value)]?.id ?? "")}
          >
            <option value="-1">All agents</option>
            {agents.map(({ id }, index) => (
              <option key={id} value={String(index)}>
                {nameOf(id)}
              </option>
            ))}
          </select>
        </div>
        {shown.length === 0 ? (
          <p class="quiet">{all.length === 0 ? "Nothing happened." : "No entries match the filter."}</p>
        ) : (
          <Timeline host={host} entries={shown} />
        )}
        {entries.length > shown.length && (
          <button type="button" class="secondary" onClick={() => setSteps(steps + 1)}>
            Show {Math.min(entriesPerStep, entries.length - shown.length)} more
          </button>
        )}
      </section>
    </main>
  );
}

const shows: readonly { readonly name: Show; readonly label: string }[] = [
  { name: "everything", label: "Everything" },
  { name: "changes", label: "Changes" },
  { name: "failures", label: "Failures" },
];

/**
 * The list is one tab stop; the arrow keys move within it, and the buttons of an entry follow it. `U` undoes an entry.
 */
function Timeline({ host, entries }: Props & { readonly entries: readonly Entry[] }): VNode {
  const list = useRef<HTMLOListElement>(null);
  const [current, setCurrent] = useState(0);
  const at = Math.min(current, entries.length - 1);
  const focus = (index: number): void => {
    const to = Math.max(0, Math.min(entries.length - 1, index));
    setCurrent(to);
    list.current?.querySelector<HTMLElement>(`:scope > li:nth-child(${to + 1})`)?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const entry = entries[at];
    const moves: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: entries.length - 1,
    };
    const to = moves[event.key];
    if (to !== undefined) focus(to);
    else if (event.key.toLowerCase() === "u" && entry?.kind === "action" && isUndoable(entry.action))
      undo(host, entry.action);
    else return;
    event.preventDefault();
  };
  return (
    <ol ref={list} class="timeline" onKeyDown={onKeyDown}>
      {entries.map((entry, index) => (
        <li
          key={keyOf(entry)}
          tabIndex={index === at ? 0 : -1}
          onFocus={() => setCurrent(index)}
          class={entry.kind === "failure" ? "entry bad-entry" : "entry"}
        >
          {entry.kind === "action" ? (
            <ActionEntry host={host} action={entry.action} />
          ) : (
            <FailureEntry host={host} failure={entry.failure} />
          )}
        </li>
      ))}
    </ol>
  );
}

function keyOf(entry: Entry): string {
  return entry.kind === "action"
    ? `action ${entry.action.id}`
    : `failure ${entry.failure.agent} ${entry.failure.at} ${entry.failure.message}`;
}

function isUndoable({ state }: ActionLine): boolean {
  return state === "Committed";
}

/** The editor itself shows why it failed. */
function undo(host: Props["host"], { id }: ActionLine): void {
  void host.ask("undo", { id }).catch(() => undefined);
}

function iconOf({ state, decidedBy }: ActionLine): { readonly name: IconName; readonly class?: string } {
  switch (state) {
    case "Committed":
      return decidedBy === "policy" ? { name: "bolt" } : { name: "check", class: "good" };
    case "Undone":
      return { name: "undo" };
    case "Rejected":
      return { name: "cross" };
    case "Failed":
      return { name: "error", class: "bad" };
    case "Stale":
    case "Expired":
      return { name: "clock" };
    case "PendingApproval":
    case "Approved":
    case "Committing":
      return { name: "bell" };
  }
}

/** The number of files that are named on one line; the others are counted. */
const maxNamed = 3;

function ActionEntry({ host, action }: Props & { readonly action: ActionLine }): VNode {
  const { id, agent, title, at, files, effects, deletes, rule, error, rejectedReason } = action;
  const named = files.slice(0, maxNamed);
  const more = effects - named.length;
  const undone = action.applied ?? effects;
  const ask = (name: "showChanges" | "openRule"): void => void host.ask(name, { id }).catch(() => undefined);
  return (
    <>
      <Time iso={at} without="seconds" class="when" />
      <span class="mark">
        <Icon {...iconOf(action)} />
      </span>
      <div class="what">
        <p>
          {verbOf(action)} <bdi>“{line(title, 200)}”</bdi>{" "}
          <span class="quiet">
            by <AgentName id={agent} />
          </span>
        </p>
        <p class="small files">
          {named.map(({ path, from }, index) => (
            <span key={`${index}`}>
              {from !== undefined && (
                <>
                  <bdi class="quiet">{pageLabel(from, 300)}</bdi> <span class="quiet">→</span>{" "}
                </>
              )}
              <button
                type="button"
                class="link"
                onClick={() => void host.ask("openFile", { id, file: index }).catch(() => undefined)}
              >
                <bdi>{pageLabel(path, 300)}</bdi>
              </button>
            </span>
          ))}
          {more > 0 && <span class="quiet">and {counted(more, "more change")}</span>}
        </p>
        <p class="small quiet">
          {deletes > 0 && <strong>Deletes {counted(deletes, "file")}. </strong>}
          {rule !== undefined && (
            <>
              {rule.isPlace ? (
                <button type="button" class="link" onClick={() => ask("openRule")}>
                  <bdi>{line(rule.sentence, 400)}</bdi>
                </button>
              ) : (
                <bdi>{line(rule.sentence, 400)}</bdi>
              )}{" "}
            </>
          )}
          {rejectedReason !== undefined && (
            <>
              You said: <bdi>“{line(rejectedReason, 400)}”</bdi>{" "}
            </>
          )}
          {error !== undefined && (
            <span class="bad-text">
              <bdi>{line(error, 400)}</bdi>{" "}
            </span>
          )}
          <button type="button" class="link" onClick={() => ask("showChanges")}>
            Show before and after
          </button>
        </p>
      </div>
      {isUndoable(action) && (
        <button
          type="button"
          class="secondary"
          aria-label={`Undo “${line(title, 200)}”`}
          onClick={() => undo(host, action)}
        >
          {undone === 1 ? "Undo" : undone === 2 ? "Undo both…" : `Undo all ${undone}…`}
        </button>
      )}
    </>
  );
}

function FailureEntry({ host, failure }: Props & { readonly failure: Failure }): VNode {
  const { agent, message, since, at, count } = failure;
  return (
    <>
      <Time iso={at} without="seconds" class="when" />
      <span class="mark">
        <Icon name="error" class="bad" />
      </span>
      <div class="what">
        <p>
          <strong>
            <AgentName id={agent} /> failed
          </strong>
          {count > 1 && (
            <>
              {" "}
              {count} times since <Time iso={since} without="seconds" class="" />
            </>
          )}
        </p>
        <p class="small bad-text">
          <bdi>{line(message, 400)}</bdi>
        </p>
      </div>
      <button
        type="button"
        class="secondary"
        onClick={() => void host.ask("showTraces", { agent }).catch(() => undefined)}
      >
        Show log
      </button>
    </>
  );
}
