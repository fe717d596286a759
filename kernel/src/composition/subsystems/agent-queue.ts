import type { Delivery, DeliveryPayload, DeliveryQueue } from "../../agents/ports.ts";
import type { Inbox } from "../../inbox/inbox.ts";
import type { InboxItem } from "../../inbox/lane.ts";

/** The inbox as a queue of one agent's deliveries. */
export function agentQueue(inbox: Inbox): DeliveryQueue {
  return {
    next: async (agent, isInHand) => deliveryOf(await inbox.next(agent, isInHand)),
    nextDueAt: (agent) => inbox.nextDueAt(agent),
    depth: (agent) => inbox.depth(agent),
    from: (agent, source) => inbox.from(agent, source),
    acknowledge: (agent, seq) => inbox.acknowledge(agent, seq),
    retryLater: (agent, seq, dueAt) => inbox.retryLater(agent, seq, dueAt),
    deadLetter: (agent, seq, reason) => inbox.deadLetter(agent, seq, reason),
  };
}

function deliveryOf(item: InboxItem | null): Delivery | null {
  // Written by this kernel or an earlier one: the payload has this form.
  return item === null
    ? null
    : { seq: item.seq, attempts: item.attempts, payload: item.payload as DeliveryPayload };
}
