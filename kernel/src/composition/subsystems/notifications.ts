import type { Actions } from "../../actions/api.ts";
import { traceWriter } from "../../agents/trace-writer.ts";
import { neverAborted } from "../../base/abort.ts";
import { illegalTransition, messageOf } from "../../base/errors.ts";
import { Emitter } from "../../base/emitter.ts";
import type { Action, ActionState, ProposalRequest } from "../../base/vocabulary/action.ts";
import { checkPerson, type Principal } from "../../base/vocabulary/principal.ts";
import type { Database } from "../../platform/database/database.ts";
import { NotificationRows } from "../../notifications/notification-rows.ts";
import { channelsFor, type ChannelRules } from "../../notifications/channels.ts";
import { Notifications } from "../../notifications/notifications.ts";
import type { AgentNotice, NotificationService } from "../../services/ports.ts";
import type { TraceLog } from "../../trace/trace-log.ts";
import type { AgentLink } from "./agent-link.ts";
import type { KernelContext } from "./kernel-context.ts";

interface NotificationParts {
  readonly database: Database;
  readonly traces: TraceLog;
  readonly agents: Pick<AgentLink, "get">;
  readonly actions: Pick<Actions, "get">;
  /** Which channels the documents in force choose. */
  readonly rules: () => ChannelRules;
}

export interface OpenedNotifications {
  readonly notifications: Notifications;
  /** The service for clients. */
  readonly service: NotificationService;
}

/** The ends of an action that nobody decided: its button proposes it again. */
const undecided: ReadonlySet<ActionState> = new Set(["Expired", "Stale", "Failed"]);
/** How many replacements of an action are followed. */
const maxReplacements = 20;

/** Opens what agents say to the person. */
export function openNotifications(context: KernelContext, parts: NotificationParts): OpenedNotifications {
  const { clock, log, opened } = context;
  const notifications = opened.use(
    new Notifications({
      clock,
      log,
      rows: new NotificationRows(parts.database),
      heldBack: (agent, count) =>
        traceWriter(parts.traces, agent)(
          "warn",
          count === 1
            ? "it sends too many notifications; they are held back"
            : `${count} notifications were held back`,
          { held_back: count },
        ),
    }),
  );
  const told = new Emitter<AgentNotice>();
  opened.use(
    notifications.told.on((notification) => {
      const { id, action } = notification;
      const rules = parts.rules();
      const channels = channelsFor(rules, notification);
      if (channels.length === 0) {
        // The workspace's document may come from a stranger, who may not have it count as seen.
        if (channelsFor({ ...rules, workspace: [] }, notification).length > 0) return;
        // The person wants it nowhere, so no client may count it as waiting.
        notifications.dismiss([id]).catch((error: unknown) => {
          log.warn(`A notification that nobody wants stays new: ${messageOf(error)}`);
        });
        return;
      }
      if (action === undefined) return told.emit({ notification, channels });
      parts.actions
        .get(action)
        .then((found) => told.emit({ notification, channels, ...(found === null ? {} : { action: found }) }))
        .catch((error: unknown) => {
          log.warn(`The action of a notification could not be read: ${messageOf(error)}`);
          told.emit({ notification, channels });
        });
    }),
  );
  return { notifications, service: { ...createNotificationService(notifications, parts), told } };
}

/** Creates what a person may do with notifications. */
export function createNotificationService(
  notifications: Pick<Notifications, "list" | "dismiss" | "actionOf" | "acted">,
  parts: Pick<NotificationParts, "agents" | "actions" | "rules">,
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

/** Returns the action of a notification, proposed again if it ended undecided. */
async function act(
  notifications: Pick<Notifications, "actionOf" | "acted">,
  { agents, actions }: Pick<NotificationParts, "agents" | "actions">,
  by: Principal,
  id: string,
): Promise<Action> {
  checkPerson(by, "use the button of a notification");
  const { agent, state, action, proposal, lineage } = await notifications.actionOf(id);
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

/** Returns the action, or the one that replaced it; null if it is not kept any more. */
async function latestOf(actions: Pick<Actions, "get">, id: string): Promise<Action | null> {
  let found = await actions.get(id);
  for (let step = 0; step < maxReplacements && found?.superseded_by !== undefined; step++)
    found = (await actions.get(found.superseded_by)) ?? found;
  return found;
}
