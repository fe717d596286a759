import { limitExceeded } from "../../base/errors.ts";
import { type Foreign, isForeign } from "../../base/vocabulary/foreign.ts";
import type { LaresEvent } from "../../base/vocabulary/event.ts";
import {
  isOwnAccord,
  type Lineage,
  lineageUnder,
  maxCallDepth,
  maxChainAgents,
} from "../../base/vocabulary/principal.ts";
import { boundingAgent, boundingAgents } from "../../policy/principals.ts";
import type { AgentDefinition, DeliveryQueue } from "../ports.ts";
import { hasRoom, sourceOfEmitter } from "./event-backlog.ts";
import { deliveriesFor, type RoutedDelivery, type RouterOptions } from "./router.ts";

/** An event of an agent or of its mind. */
interface EmittedEvent {
  readonly event: LaresEvent;
  /** Whose share of the receivers' queues it takes. */
  readonly emitter: string;
  /** Texts that nobody vouches for and that it may hold. */
  readonly foreign: Foreign;
  /** What its receivers do is done under this. */
  readonly lineage: Lineage;
}

interface Receivers {
  readonly definitions: Iterable<AgentDefinition>;
  readonly queue: Pick<DeliveryQueue, "from">;
  readonly routing: RouterOptions;
  onDropped(agent: string, event: string, reason: string): void;
}

/** Returns the deliveries of an emitted event to those who may receive it and have room for it. */
export function deliveriesOf(
  { event, emitter, foreign, lineage }: EmittedEvent,
  { definitions, queue, routing, onDropped }: Receivers,
): RoutedDelivery[] {
  const source = sourceOfEmitter(emitter);
  const carried = {
    ...(isForeign(foreign) ? { foreign } : {}),
    ...(isOwnAccord(lineage) ? {} : { lineage }),
  };
  const deliveries: RoutedDelivery[] = [];
  for (const definition of definitions) {
    const own = deliveriesFor(definition, event, "live", routing);
    if (own.length > 0 && hasRoom({ queue, onDropped }, definition.id, event.name, emitter))
      deliveries.push(
        ...own.map(({ payload, ...delivery }) => ({
          ...delivery,
          payload: { ...payload, ...carried },
          source,
        })),
      );
  }
  return deliveries;
}

/**
 * Returns the lineage with which an agent's event reaches its receivers. An event that is emitted under a call of another
 * agent or of a mind carries that chain with the emitter: nobody reaches by an event what they may not do themselves. An
 * agent that acts by itself, or for a person, tells others what it knows, and `hear_events` is what they may do about it;
 * then the event only counts as one more step. Texts that led to it travel beside the event. Throws LimitExceeded if too
 * many steps led here, which ends agents that answer each other's events without end; `onRefused` gets the reason before.
 */
export function lineageOfEvent(
  emitter: string,
  name: string,
  lineage: Lineage,
  onRefused: (reason: string) => void,
): Lineage {
  const { sources: _beside, ...led } = lineage;
  const { onBehalfOf, depth } = led;
  const refuse = (limit: number, reason: string): never => {
    onRefused(reason);
    throw limitExceeded("event_depth", limit, `The event ${name} is not emitted: ${reason}.`);
  };
  if (depth >= maxCallDepth)
    return refuse(maxCallDepth, `${maxCallDepth} calls and events led to it, which is the limit`);
  const isForOthers = onBehalfOf.some(
    (actor) => actor.kind === "process" || ![null, emitter].includes(boundingAgent(actor)),
  );
  if (!isForOthers)
    return { onBehalfOf: onBehalfOf.filter((actor) => boundingAgent(actor) === null), depth: depth + 1 };
  const carried = lineageUnder({ kind: "agent", id: emitter, lineage: led });
  // A receiver is one more.
  if (boundingAgents(null, carried.onBehalfOf).length >= maxChainAgents)
    return refuse(
      maxChainAgents,
      `with its receiver, more than ${maxChainAgents} agents would take part in this chain, which is the limit`,
    );
  return carried;
}
