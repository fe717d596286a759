import { neverAborted } from "../base/abort.ts";
import { illegalTransition } from "../base/errors.ts";
import type { Action, ActionState, ProposalRequest } from "../base/vocabulary/action.ts";
import type { Agent } from "../base/vocabulary/agent.ts";
import type { AgentDefinition } from "../base/vocabulary/agent-definition.ts";
import type { NotifiedSchedule } from "../base/vocabulary/notification.ts";
import { checkPerson, type Principal } from "../base/vocabulary/principal.ts";
import type { NotificationService, ResumedSchedule } from "../services/ports.ts";
import { channelsFor, type ChannelRules } from "./channels.ts";
import type { NewNotification, Notifications } from "./notifications.ts";

interface ServiceParts {
  readonly agents: {
    /** Throws NotFound. */
    get(agent: string): {
      readonly definition: Pick<AgentDefinition, "hooks">;
      readonly state: string;
      callAs(
        principal: Principal,
        method: "actions/propose",
        request: ProposalRequest,
        options: { readonly signal: AbortSignal },
      ): Promise<unknown>;
    };
    /** Resumes the suspended schedule of this hook. */
    control(by: Principal, agent: string, command: "resume", hook: number): Promise<Agent>;
  };
  readonly actions: { get(id: string): Promise<Action | null> };
  /** Which channels the documents in force choose. */
  readonly rules: () => ChannelRules;
}

/** The ends of an action that nobody decided: its button proposes it again. */
const undecided: ReadonlySet<ActionState> = new Set(["Expired", "Stale", "Failed"]);
/** How many replacements of an action are followed. */
const maxReplacements = 20;

/** Returns what the person is told about a schedule that was suspended. */
export function suspended(agent: string, schedule: NotifiedSchedule, error: string): NewNotification {
  const { handler, schedule: when } = schedule;
  return {
    agent,
    title: `The schedule of ${handler} is suspended`,
    message: `Three runs of ${handler} (${when}) in a row failed, so it does not run until you resume it. The last error: ${error}`,
    severity: "warning",
    schedule,
  };
}

/** Creates what a person may do with notifications. */
export function createNotificationService(
  notifications: Pick<Notifications, "list" | "dismiss" | "actionOf" | "acted">,
  parts: ServiceParts,
): Omit<NotificationService, "told"> {
  return {
    list: async (query) => {
      const page = await notifications.list(query);
      const rules = parts.rules();
      return { ...page, items: page.items.map((item) => ({ ...item, channels: channelsFor(rules, item) })) };
    },
    dismiss: async (by, ids) => {
      checkPerson(by, "dismiss notifications");
      return await notifications.dismiss(ids);
    },
    act: (by, id) => act(notifications, parts, by, id),
  };
}

/** Resumes the suspended schedule of a notification, or returns its action, proposed again if it ended undecided. */
async function act(
  notifications: Pick<Notifications, "actionOf" | "acted">,
  { agents, actions }: Pick<ServiceParts, "agents" | "actions">,
  by: Principal,
  id: string,
): Promise<Action | ResumedSchedule> {
  checkPerson(by, "use the button of a notification");
  const { agent, state, action, proposal, lineage, schedule } = await notifications.actionOf(id);
  if (schedule !== null) return { resumed: await resume(agents, by, agent, schedule) };
  if (action === null) throw illegalTransition(state, "The notification proposes nothing.");
  const earlier = await latestOf(actions, action);
  if (earlier !== null && !undecided.has(earlier.state)) {
    await notifications.acted(id, earlier.id);
    return earlier;
  }
  if (proposal === null)
    throw illegalTransition(
      earlier?.state ?? "Expired",
      "The action has ended, and its changes were too large to keep. Let the agent propose them again.",
    );
  // The key makes it one proposal, however often the button is pressed, and whenever the kernel dies.
  const request: ProposalRequest = { ...proposal, key: `notification ${id} after ${action}` };
  const answer = (await agents.get(agent).callAs({ ...by, lineage }, "actions/propose", request, {
    signal: neverAborted,
  })) as Action;
  await notifications.acted(id, answer.id);
  return (await actions.get(answer.id)) ?? answer;
}

/** Throws NotFound if the agent is gone, and IllegalTransition if it has no such schedule, or one that is not suspended. */
async function resume(
  agents: ServiceParts["agents"],
  by: Principal,
  agent: string,
  { handler, schedule }: NotifiedSchedule,
): Promise<Agent> {
  const { definition, state } = agents.get(agent);
  const isMeant = (hook: { handler: string; schedule?: string }): boolean =>
    hook.handler === handler && hook.schedule === schedule;
  const at = definition.hooks.findIndex(isMeant);
  if (at < 0)
    throw illegalTransition(state, `${agent} has no schedule of ${handler} (${schedule}) any more.`);
  // A schedule that was resumed elsewhere runs already, and its notification has counted as seen since.
  return await agents.control(by, agent, "resume", at);
}

/** Returns the action, or the one that replaced it; null if it is not kept any more. */
async function latestOf(actions: ServiceParts["actions"], id: string): Promise<Action | null> {
  let found = await actions.get(id);
  for (let step = 0; step < maxReplacements && found?.superseded_by !== undefined; step++)
    found = (await actions.get(found.superseded_by)) ?? found;
  return found;
}
