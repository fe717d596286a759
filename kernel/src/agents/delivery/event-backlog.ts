import { limitExceeded } from "../../base/errors.ts";
import type { DeliveryQueue } from "../ports.ts";

/**
 * Maximum number and bytes of one emitter's custom events in one receiver's queue. Each emitter has its own share,
 * so none can crowd out another.
 */
export const customEventBacklog = { deliveries: 4000, bytes: 16 * 1024 * 1024 } as const;

/** Returns the source of an emitter's custom events in the inbox. */
export function sourceOfEmitter(emitter: string): string {
  return `event ${emitter}`;
}

/** Returns the emitter of a custom event, whose name is "publisher.id/EventName". */
export function emitterOf(event: string): string {
  return event.slice(0, event.indexOf("/"));
}

interface BacklogPorts {
  readonly queue: Pick<DeliveryQueue, "from">;
  /** Tells the receiver that an event is not delivered; `reason` names the emitter that fills the queue. */
  onDropped(hearer: string, event: string, reason: string): void;
}

/**
 * Returns whether another event of the emitter fits into its share of the receiver's queue; if not, writes that to
 * the receiver's traces. The emitter itself is refused (LimitExceeded) only for its own backlog: it must not learn
 * how much waits for others, and one inactive receiver must not block an event for the rest.
 */
export function hasRoom(
  { queue, onDropped }: BacklogPorts,
  hearer: string,
  event: string,
  emitter = emitterOf(event),
): boolean {
  const { count: deliveries, bytes } = queue.from(hearer, sourceOfEmitter(emitter));
  const waiting = { deliveries, bytes };
  for (const unit of ["deliveries", "bytes"] as const) {
    if (waiting[unit] < customEventBacklog[unit]) continue;
    const fill = `${waiting[unit]} ${unit} of ${emitter} wait already, and ${customEventBacklog[unit]} may`;
    if (hearer === emitterOf(event))
      throw limitExceeded(
        `custom_event_backlog_${unit}`,
        waiting[unit],
        `${fill}; emit ${event} again later.`,
      );
    onDropped(hearer, event, fill);
    return false;
  }
  return true;
}
