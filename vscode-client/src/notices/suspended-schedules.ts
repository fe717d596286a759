import { commands, window } from "vscode";
import { reporting } from "../deciding/explain.ts";
import type { ClientContext, Feature } from "../feature.ts";
import { count, label, message } from "../model/text.ts";
import type { Agent } from "../protocol.ts";

type Hook = Agent["hooks"][number];

interface Suspended {
  readonly agent: Agent;
  readonly hook: Hook & { readonly suspended: NonNullable<Hook["suspended"]> };
}

const resume = "Resume";
const showTraces = "Show Traces";
const showAgents = "Show Agents";
/** If more schedules are suspended at once, one message reports all of them. */
const maxMessages = 3;

/** Reports each suspended schedule once, and offers to resume it. */
export const suspendedSchedules: Feature = (context) => {
  const { models } = context;
  let told = new Set<string>();
  const look = (): void => {
    const now = new Map(models.agents.all.flatMap(suspendedOf).map((one) => [keyOf(one), one]));
    const fresh = [...now].filter(([key]) => !told.has(key)).map(([, one]) => one);
    told = new Set(now.keys());
    if (fresh.length > maxMessages) void tellMany(fresh.length);
    else for (const one of fresh) void tell(context, one);
  };
  look();
  return models.agents.onDidChange(look);
};

function suspendedOf(agent: Agent): Suspended[] {
  return agent.hooks.flatMap(({ suspended, ...hook }) =>
    suspended === undefined ? [] : [{ agent, hook: { ...hook, suspended } }],
  );
}

function keyOf({ agent, hook: { handler, schedule, suspended } }: Suspended): string {
  return JSON.stringify([agent.id, handler, schedule, suspended.since]);
}

async function tell(context: ClientContext, one: Suspended): Promise<void> {
  const { agent, hook } = one;
  const { handler, schedule = "", suspended } = hook;
  const what = `${label(handler, 80)} (${label(schedule, 80)})`;
  const answer = await window.showWarningMessage(
    `${label(context.models.agents.nameOf(agent.id), 80)} no longer runs ${what}, because three runs in a row failed: ${message(suspended.error)}`,
    resume,
    showTraces,
  );
  if (answer === showTraces) await commands.executeCommand("lares.agentShowTraces", { id: agent.id });
  if (answer === resume)
    await reporting("The schedule cannot be resumed", async () => {
      // The index of the hook may have changed since the message was shown.
      const place = context.models.agents
        .get(agent.id)
        ?.hooks.findIndex((each) => each.handler === handler && each.schedule === schedule);
      if (place === undefined || place < 0) return;
      await context.kernel.request("lares/agents/control", { id: agent.id, command: "resume", hook: place });
    });
}

async function tellMany(amount: number): Promise<void> {
  const answer = await window.showWarningMessage(
    `${count(amount, "schedule")} no longer run, because three runs in a row of each failed.`,
    showAgents,
  );
  if (answer === showAgents) await commands.executeCommand("lares.agents.focus");
}
