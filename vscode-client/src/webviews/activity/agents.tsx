import type { VNode } from "preact";
import { AgentName } from "../shared/agent-name.tsx";
import { counted } from "../shared/format.ts";
import type { Host } from "../shared/host.ts";
import { Icon, type IconName } from "../shared/icon.tsx";
import { line } from "../shared/text.ts";
import { isFailingKind } from "./entries.ts";
import type { ActivityContract, AgentRow, Overview } from "./messages.ts";

interface ListProps {
  readonly host: Host<ActivityContract>;
  readonly overview: Overview;
}

/** The icon of an agent: filled and still if it waits for a person, turning if it works. */
const icons: Readonly<Record<AgentRow["kind"], { readonly name: IconName; readonly class?: string }>> = {
  manifest: { name: "error", class: "bad" },
  error: { name: "error", class: "bad" },
  failed: { name: "error", class: "bad" },
  permission: { name: "shield", class: "warn" },
  suspended: { name: "pause", class: "warn" },
  changing: { name: "work" },
  working: { name: "work" },
  active: { name: "pass", class: "good" },
  asleep: { name: "circle" },
  off: { name: "off" },
};

/** Hidden if the page is narrow, because the Agents view next to it shows them. */
const calm: ReadonlySet<AgentRow["kind"]> = new Set(["active", "asleep", "off"]);

/** Lists each agent with its status, problems first, and each problem with a link to its line. */
export function AgentList({ host, overview: { agents, moreAgents } }: ListProps): VNode {
  return (
    <>
      <ul class="agents">
        {agents.map((agent) => (
          <Row key={agent.id} host={host} agent={agent} />
        ))}
      </ul>
      {moreAgents > 0 && <p class="quiet small">and {counted(moreAgents, "more agent")}</p>}
    </>
  );
}

function Row({
  host,
  agent: { id, kind, words, problem },
}: { readonly agent: AgentRow } & Pick<ListProps, "host">): VNode {
  const ask = (name: "showTraces" | "showProblem" | "resume"): void =>
    void host.ask(name, { agent: id }).catch(() => undefined);
  return (
    <li class={calm.has(kind) ? "calm" : ""}>
      <Icon {...icons[kind]} />
      <div>
        <button type="button" class="link name" title="Show its log" onClick={() => ask("showTraces")}>
          <AgentName id={id} />
        </button>{" "}
        <span class={isFailingKind(kind) ? "small bad-text" : "small quiet"}>
          <bdi>{line(words, 400)}</bdi>
        </span>
        {kind === "suspended" && (
          <>
            {" "}
            <button type="button" class="link small" onClick={() => ask("resume")}>
              Start again
            </button>
          </>
        )}
        {kind === "permission" && (
          <>
            {" "}
            <button
              type="button"
              class="link small"
              onClick={() => void host.ask("command", { command: "reviewAsks" }).catch(() => undefined)}
            >
              Choose…
            </button>
          </>
        )}
        {problem !== undefined && (
          <p class="small problem">
            <bdi>{line(problem.message, 400)}</bdi>{" "}
            <button type="button" class="link" onClick={() => ask("showProblem")}>
              <bdi>{problem.place === undefined ? "Show what is wrong" : line(problem.place, 100)}</bdi>
            </button>
            {problem.more > 0 && <span class="quiet"> and {counted(problem.more, "more problem")}</span>}
          </p>
        )}
      </div>
    </li>
  );
}
