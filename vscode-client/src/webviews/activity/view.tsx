import type { VNode } from "preact";
import { AgentName, useAgentName } from "../shared/agent-name.tsx";
import { BarChart, type Series } from "../shared/bar-chart.tsx";
import { count, shortCount } from "../shared/format.ts";
import { localTime } from "../shared/local-time.ts";
import { useAsked, useChanged, useNow, useSituation } from "../shared/hooks.ts";
import { Failed, Notice, WhileRunning } from "../shared/notice.tsx";
import type { PageProps } from "../shared/page.tsx";
import { line } from "../shared/text.ts";
import { Time } from "../shared/time.tsx";
import { AgentTable } from "./agents.tsx";
import { maxActions, shownDays, type ActionLine, type ActivityContract, type Overview } from "./messages.ts";
import { actionsPerDay, rememberedPerDay } from "./per-day.ts";
import { fateOf, outcomeOf, sentenceOf, titleOf, type Outcome } from "./sentences.ts";

/** Sentences of what happened lately. */
const shownSentences = 20;

const outcomes: readonly Series<Outcome>[] = [
  { kind: "applied", label: "applied" },
  { kind: "waiting", label: "waiting" },
  { kind: "rejected", label: "rejected" },
  { kind: "failed", label: "failed" },
  { kind: "undone", label: "undone" },
];

type Props = Pick<PageProps<ActivityContract>, "host">;

/** The last days at a glance. */
export function ActivityView({ host }: Props): VNode {
  const situation = useSituation(host);
  return (
    <WhileRunning host={host} situation={situation}>
      <Activity host={host} />
    </WhileRunning>
  );
}

function Activity({ host }: Props): VNode {
  const { asked, again } = useAsked(host, "overview", {});
  const nowMs = useNow();
  useChanged(host, asked, again);
  switch (asked.kind) {
    case "loading":
      return <Notice kind="busy" title="Loading…" />;
    case "failed":
      return <Failed message={asked.message} again={again} />;
    case "ready":
      return <OverviewPage host={host} overview={asked.value} nowMs={nowMs} />;
  }
}

interface OverviewProps extends Props {
  readonly overview: Overview;
  readonly nowMs: number;
}

export function OverviewPage({ host, overview, nowMs }: OverviewProps): VNode {
  const { eventsToday, totals, actions, agents, problems } = overview;
  if (agents.length === 0)
    return (
      <Notice title="No agents yet.">
        <p class="quiet">What they do is told here once lares.yaml names an extension.</p>
      </Notice>
    );
  const perDay = actionsPerDay(actions, nowMs, shownDays);
  const remembered = rememberedPerDay(agents, nowMs, shownDays);
  return (
    <main class="activity">
      <section class="figures" aria-label="Today">
        <Figure value={eventsToday} one="event" about="Events that agents answered today" />
        <p class="quiet">today</p>
      </section>
      {totals !== undefined && (
        <section class="figures" aria-label="Since the kernel started">
          <Figure value={totals.actions} one="action" about="Actions that agents proposed" />
          <Figure value={totals.refusals} one="refusal" about="Calls of agents that policy refused" />
          <p class="quiet">since the kernel started</p>
        </section>
      )}
      <div class="charts">
        <section aria-label="Actions">
          <h2>Actions</h2>
          {actions.length === 0 ? (
            <p class="quiet">No agent has proposed anything yet.</p>
          ) : (
            <BarChart label={`Actions, last ${shownDays} days`} series={outcomes} bars={perDay} />
          )}
          {actions.length >= maxActions && (
            <p class="quiet">The newest {count(maxActions)} actions are counted.</p>
          )}
        </section>
        <section aria-label="Remembered">
          <h2>Remembered</h2>
          {remembered.every(({ counts }) => counts.remembered === 0) ? (
            <p class="quiet">No agent has remembered an event in the last {shownDays} days.</p>
          ) : (
            <BarChart
              label={`Events remembered, last ${shownDays} days`}
              series={[{ kind: "remembered", label: "remembered" }]}
              bars={remembered}
            />
          )}
        </section>
      </div>
      <section aria-label="Agents">
        <h2>Agents</h2>
        <AgentTable host={host} overview={overview} nowMs={nowMs} />
      </section>
      <section aria-label="Lately">
        <h2>Lately</h2>
        {actions.length === 0 && <p class="quiet">Nothing was proposed yet.</p>}
        <ul class="lately">
          {actions.slice(0, shownSentences).map((action) => (
            <Sentence key={action.id} host={host} action={action} nowMs={nowMs} />
          ))}
        </ul>
      </section>
      {problems.length > 0 && (
        <section aria-label="Warnings and errors">
          <h2>Warnings and errors</h2>
          <ul class="lately">
            {problems.map(({ timestamp, level, agent, message }, index) => (
              <li key={`${timestamp} ${index}`} class={`problem-${level}`}>
                <button
                  type="button"
                  class="link"
                  title="Show this agent's traces"
                  onClick={() => void host.ask("showTraces", { agent }).catch(() => undefined)}
                >
                  <AgentName id={agent} />
                </button>{" "}
                <bdi>{line(message, 240)}</bdi> <Time iso={timestamp} nowMs={nowMs} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </main>
  );
}

interface FigureProps {
  readonly value: number;
  readonly one: string;
  readonly about: string;
}

function Figure({ value, one, about }: FigureProps): VNode {
  return (
    <div class="figure" title={`${about}: ${count(value)}`}>
      <strong>{value < 10_000 ? count(value) : shortCount(value)}</strong>
      <span class="quiet">{value === 1 ? one : `${one}s`}</span>
    </div>
  );
}

interface SentenceProps extends Props {
  readonly action: ActionLine;
  readonly nowMs: number;
}

function Sentence({ host, action, nowMs }: SentenceProps): VNode {
  const agent = useAgentName()(action.agent);
  const title = titleOf(action);
  const outcome = outcomeOf(action.state);
  const act = (): void => {
    const asked =
      action.state === "PendingApproval"
        ? host.ask("showApprovals", {})
        : host.ask("showChanges", { id: action.id });
    // The editor says itself why it could not.
    asked.catch(() => undefined);
  };
  return (
    <li class={`outcome-${outcome}`}>
      <i class={`swatch series-${outcome}`} aria-hidden="true" />
      <span>
        <AgentName id={action.agent} /> proposed{" "}
        <button type="button" class="link" aria-label={sentenceOf({ ...action, agent }, nowMs)} onClick={act}>
          <bdi>“{title}”</bdi>
        </button>
        <span class="quiet" title={localTime(action.decided ?? action.created)}>
          {" "}
          — {fateOf(action, nowMs)}
        </span>
        {action.error !== undefined && (
          <span class="error-line">
            <bdi>{line(action.error, 240)}</bdi>
          </span>
        )}
      </span>
    </li>
  );
}
