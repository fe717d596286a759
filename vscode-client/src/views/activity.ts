import { commands, Disposable } from "vscode";
import type { ClientContext, Feature } from "../feature.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { Agent } from "../protocol.ts";
import {
  activityContract,
  maxActions,
  maxAgentRows,
  maxProblems,
  shownDays,
  type Overview,
} from "../webviews/activity/messages.ts";
import { beginningOf } from "../webviews/shared/days.ts";
import { overviewOf } from "./activity-overview.ts";
import { lookAgain } from "./look-again.ts";
import { commonAnswers } from "./situation.ts";
import { registerView } from "./webview-host.ts";

/** Agents whose memory is counted at the same time. */
const maxCountsAtOnce = 4;

/** The sidebar's Activity view, and `lares.showActivity`. */
export const activity: Feature = (context) => {
  const counts = new MemoryCounts(context.kernel);
  const view = registerView(context, {
    id: "lares.activity",
    name: "activity",
    title: "Lares Activity",
    contract: activityContract,
    answers: {
      ...commonAnswers(context),
      overview: () => overview(context, counts),
      showChanges: async ({ id }) => {
        await commands.executeCommand("lares.showChanges", id);
        return {};
      },
      showTraces: async ({ agent }) => {
        await commands.executeCommand("lares.showTraces", agent);
        return {};
      },
      showApprovals: async () => {
        await commands.executeCommand("lares.approvals.focus");
        return {};
      },
    },
    whileSeen: ({ conversation }) => {
      const { agents, actions, status } = context.models;
      return lookAgain([agents.onDidChange, actions.onDidChange, status.onDidChange], () =>
        conversation.push("changed", {}),
      );
    },
  });
  const show = commands.registerCommand("lares.showActivity", () =>
    commands.executeCommand("lares.activity.focus"),
  );
  return Disposable.from(view, show);
};

async function overview({ kernel }: ClientContext, counts: MemoryCounts): Promise<Overview> {
  const [status, agents, actions, problems] = await Promise.all([
    kernel.request("lares/status", {}),
    kernel.request("lares/agents/list", {}),
    kernel.request("lares/actions/list", { limit: maxActions }),
    kernel.request("lares/traces/query", { level: "warn", limit: maxProblems }),
  ]);
  return overviewOf({
    status,
    actions,
    agents: agents.toSorted((one, other) => one.id.localeCompare(other.id)),
    remembered: await counts.byDay(agents),
    problems,
  });
}

/** What agents remembered, by day; asked again only of those that remembered more meanwhile. */
class MemoryCounts {
  readonly #kernel: Kernel;
  readonly #known = new Map<string, { readonly key: string; readonly groups: Record<string, number> }>();

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  async byDay(all: readonly Agent[]): Promise<ReadonlyMap<string, Record<string, number>>> {
    const since = beginningOf(Date.now(), shownDays);
    const agents = all.slice(0, maxAgentRows);
    const ids = new Set(agents.map(({ id }) => id));
    for (const id of this.#known.keys()) if (!ids.has(id)) this.#known.delete(id);
    const open = agents.filter(({ id, metrics }) => {
      const key = `${since} ${metrics.temporal_events_count}`;
      return metrics.temporal_events_count > 0 && this.#known.get(id)?.key !== key;
    });
    const countNext = async (): Promise<void> => {
      for (let agent = open.pop(); agent !== undefined; agent = open.pop()) {
        const key = `${since} ${agent.metrics.temporal_events_count}`;
        try {
          const { groups = {} } = await this.#kernel.request("lares/memory/count", {
            agent: agent.id,
            since,
            group_by: "day",
          });
          this.#known.set(agent.id, { key, groups });
        } catch {
          // A memory that cannot be asked has no line in the chart; the Memory view says why.
          this.#known.delete(agent.id);
        }
      }
    };
    await Promise.all(Array.from({ length: maxCountsAtOnce }, countNext));
    return new Map([...this.#known].map(([id, { groups }]) => [id, groups]));
  }
}
