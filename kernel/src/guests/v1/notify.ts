import type { Caller } from "../../agents/ports.ts";
import type { Proposal } from "../../base/vocabulary/action.ts";
import type { AgentNotification } from "../../base/vocabulary/notification.ts";
import type { Lineage } from "../../base/vocabulary/principal.ts";
import type { GuestServices } from "../../protocol/guest/v1/calls.ts";
import type { notifyCalls } from "../../protocol/guest/v1/notify.ts";
import { type ActionPorts, propose } from "./actions.ts";

interface GuestNotification extends Pick<AgentNotification, "agent" | "title" | "message" | "severity"> {
  readonly action?: {
    /** The id of the action that was proposed with it. */
    readonly id: string;
    readonly proposal: Proposal;
    readonly lineage: Lineage;
  };
}

export interface NotifyPorts extends ActionPorts {
  /** Resolves once the notification is stored. */
  notify(notification: GuestNotification): Promise<void>;
}

/** The guest ABI's `notify`. */
export function notifyServices(ports: NotifyPorts): Pick<GuestServices<Caller>, keyof typeof notifyCalls> {
  return {
    notify: async (caller, { title, message, severity, action: effects }) => {
      const { agent, lineage } = caller;
      if (effects === undefined) return await ports.notify({ agent, title, message, severity });
      const proposal = { effects, title, reason: message };
      const { id } = (await propose(ports, caller, proposal)).action;
      await ports.notify({ agent, title, message, severity, action: { id, proposal, lineage } });
    },
  };
}
