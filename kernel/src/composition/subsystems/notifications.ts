import type { Actions } from "../../actions/api.ts";
import { traceWriter } from "../../agents/trace-writer.ts";
import { messageOf } from "../../base/errors.ts";
import { Emitter } from "../../base/emitter.ts";
import type { NotifiedSchedule } from "../../base/vocabulary/notification.ts";
import type { Database } from "../../platform/database/database.ts";
import { NotificationRows } from "../../notifications/notification-rows.ts";
import { channelsFor, type ChannelRules } from "../../notifications/channels.ts";
import { suspended } from "../../notifications/notification-service.ts";
import { Notifications } from "../../notifications/notifications.ts";
import type { AgentNotice } from "../../services/ports.ts";
import type { TraceLog } from "../../trace/trace-log.ts";
import type { KernelContext } from "./kernel-context.ts";

interface NotificationParts {
  readonly database: Database;
  readonly traces: TraceLog;
  readonly actions: Pick<Actions, "get">;
  /** Which channels the documents in force choose. */
  readonly rules: () => ChannelRules;
}

interface OpenedNotifications {
  readonly notifications: Notifications;
  /** Emits those that are to be shown now. */
  readonly told: Emitter<AgentNotice>;
  /** Tells the person that a schedule is suspended, or with null that it runs again. */
  tellSchedule(agent: string, schedule: NotifiedSchedule, error: string | null): Promise<void>;
}

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
  return {
    notifications,
    told,
    tellSchedule: (agent, schedule, error) =>
      (error === null
        ? notifications.resumed(agent, schedule)
        : notifications.add(suspended(agent, schedule, error))
      ).catch((failure: unknown) =>
        log.error(`The notification of a suspended schedule was not stored: ${messageOf(failure)}`),
      ),
  };
}
