import type { Caller } from "../../../agents/ports.ts";
import type { Action } from "../../../base/vocabulary/action.ts";
import type { GuestServices } from "../../../protocol/guest/v1/calls.ts";
import type { notifyCalls } from "../../../protocol/guest/v1/notify.ts";
import { type ActionPorts, propose } from "./actions.ts";

/** An agent's message to the user, and the action that it proposes with it. */
interface AgentNotification {
  readonly agent: string;
  readonly title: string;
  readonly message: string;
  readonly severity: "info" | "warning" | "error";
  readonly action?: Action;
}

export interface NotifyPorts extends ActionPorts {
  notify(notification: AgentNotification): void;
}

/** The guest ABI's `notify`. */
export function notifyServices(ports: NotifyPorts): Pick<GuestServices<Caller>, keyof typeof notifyCalls> {
  return {
    notify: async (caller, { title, message, severity, action: effects }) => {
      const action =
        effects === undefined
          ? undefined
          : (await propose(ports, caller, { effects, title, reason: message })).action;
      ports.notify({
        agent: caller.agent,
        title,
        message,
        severity,
        ...(action === undefined ? {} : { action }),
      });
    },
  };
}
