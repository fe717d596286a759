import type { VNode } from "preact";
import { agentStateWords } from "../../../../kernel/src/base/vocabulary/agent-words.ts";
import { AgentName } from "../shared/agent-name.tsx";
import { count, counted, milliseconds, shortCount } from "../shared/format.ts";
import { size } from "../../model/size.ts";
import type { Host } from "../shared/host.ts";
import { shownDays, type ActivityContract, type AgentFigures, type Overview } from "./messages.ts";
import { rememberedPerDay } from "./per-day.ts";

interface TableProps {
  readonly host: Host<ActivityContract>;
  readonly overview: Overview;
  readonly nowMs: number;
}

/** Each agent's events of today, its figures since the kernel started, and a small line of what it remembered. */
export function AgentTable({ host, overview: { agents, moreAgents }, nowMs }: TableProps): VNode {
  return (
    <>
      <table class="agents">
        <thead>
          <tr>
            <th scope="col">Agent</th>
            <th scope="col" class="number">
              Events today
            </th>
            <th
              scope="col"
              class="number wide"
              title="Events that ended in an error since the kernel started"
            >
              Failed
            </th>
            <th scope="col" class="number wide" title="From the event to its handler's answer, on average">
              Latency
            </th>
            <th scope="col" class="number wide">
              Memory
            </th>
            <th scope="col" class="wide">
              {shownDays} days
            </th>
          </tr>
        </thead>
        <tbody>
          {agents.map((agent) => (
            <tr key={agent.id}>
              <th scope="row">
                <i
                  class={`dot state-${agent.state}`}
                  title={agentStateWords[agent.state]}
                  aria-hidden="true"
                />
                <button
                  type="button"
                  class="link"
                  title={`${agentStateWords[agent.state]} · Show traces`}
                  onClick={() => void host.ask("showTraces", { agent: agent.id }).catch(() => undefined)}
                >
                  <AgentName id={agent.id} />
                </button>
                <span class="hidden-text">{agentStateWords[agent.state]}</span>
              </th>
              <td class="number" title={told(agent)}>
                {shortCount(agent.eventsToday)}
              </td>
              <td class="number wide">
                {agent.failed > 0 ? <span class="bad">{shortCount(agent.failed)}</span> : "–"}
              </td>
              <td class="number wide">{agent.events === 0 ? "–" : milliseconds(agent.averageLatencyMs)}</td>
              <td class="number wide">{size(agent.memoryBytes)}</td>
              <td class="wide">
                <Sparkline agent={agent} nowMs={nowMs} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {moreAgents > 0 && <p class="quiet">… and {counted(moreAgents, "more agent")}.</p>}
    </>
  );
}

function told({ events, failed, jobs, jobsFailed, cpuMs, wakeups }: AgentFigures): string {
  return [
    `Since the kernel started ${counted(events, "event")}`,
    `${count(failed)} of them failed`,
    ...(jobs + jobsFailed === 0 ? [] : [`${counted(jobs, "job")} done`, `${count(jobsFailed)} failed`]),
    `${milliseconds(cpuMs)} of CPU`,
    `woken ${counted(wakeups, "time")}`,
  ].join(", ");
}

const sparkWidth = 60;
const sparkHeight = 16;

function Sparkline({ agent, nowMs }: { readonly agent: AgentFigures; readonly nowMs: number }): VNode | null {
  if (agent.remembered === undefined) return null;
  const counts = rememberedPerDay([agent], nowMs, shownDays).map(({ counts }) => counts.remembered);
  const most = Math.max(1, ...counts);
  const step = sparkWidth / (counts.length - 1);
  const points = counts.map((value, index) => {
    const y = sparkHeight - 1 - (value / most) * (sparkHeight - 2);
    return `${(index * step).toFixed(1)},${y.toFixed(1)}`;
  });
  const sum = counts.reduce((total, value) => total + value, 0);
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${sparkWidth} ${sparkHeight}`}
      role="img"
      aria-label={`${counted(sum, "event")} remembered in ${shownDays} days`}
    >
      <polyline points={points.join(" ")} />
    </svg>
  );
}
