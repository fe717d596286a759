import type { Delivery, DeliveryPayload, DeliveryQueue } from "../../agents/ports.ts";
import type { LaresEvent } from "../../base/vocabulary/event.ts";
import { bothForeign, type Foreign, isForeign, nothingForeign } from "../../base/vocabulary/foreign.ts";
import type { Inbox } from "../../inbox/inbox.ts";
import type { InboxItem } from "../../inbox/lane.ts";

/** The inbox as a queue of one agent's deliveries. `foreignIn` returns what an event holds of texts that nobody vouches for. */
export function agentQueue(inbox: Inbox, foreignIn: (event: LaresEvent) => Promise<Foreign>): DeliveryQueue {
  return {
    next: async (agent, isInHand) => {
      const delivery = deliveryOf(await inbox.next(agent, isInHand));
      if (delivery === null) return null;
      const { payload } = delivery;
      // The marks of the kernel's events are looked up when they are handed over, because a text may be marked later.
      const foreign = bothForeign(payload.foreign ?? nothingForeign, await foreignIn(payload.event));
      return isForeign(foreign) ? { ...delivery, payload: { ...payload, foreign } } : delivery;
    },
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
