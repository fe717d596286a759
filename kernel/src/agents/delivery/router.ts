import type { Clock } from "../../base/clock.ts";
import type { EntryChange, LaresEvent } from "../../base/vocabulary/event.ts";
import { inGrantedScope } from "../../policy/decide.ts";
import { decideHearing, type HearingIndex } from "../../policy/hearing.ts";
import type { AgentDefinition, DeliveryPayload, HookDefinition } from "../ports.ts";

type Lane = "live" | "backlog";

export interface RoutedDelivery {
  readonly agent: string;
  readonly lane: Lane;
  readonly payload: DeliveryPayload;
  /** The source, if the number of its waiting events is limited; see the inbox. */
  readonly source?: string;
}

export interface RouterOptions extends HearingIndex {
  readonly clock: Clock;
  /** Returns a change of the index as the event that hooks receive. */
  readonly eventOf: (change: EntryChange) => LaresEvent;
  /** A filter could not be evaluated on this event: counts as "no" and is reported. */
  readonly onFilterError: (agent: string, hook: HookDefinition, message: string) => void;
  /** An event that a hook waits for was not delivered; `reason` is for people only. */
  readonly onWithheld: (agent: string, event: string, reason: string) => void;
}

/** Returns which of an agent's hooks an event goes to, after policy (`decideHearing`) and each hook's filter. */
export function deliveriesFor(
  definition: AgentDefinition,
  event: LaresEvent,
  lane: Lane,
  options: RouterOptions,
): RoutedDelivery[] {
  const deliveries: RoutedDelivery[] = [];
  let seen: LaresEvent | undefined;
  for (const hook of definition.hooks) {
    if (hook.on !== event.name) continue;
    if (seen === undefined) {
      const hearing = decideHearing(definition.authority, event, options);
      if (!hearing.heard) {
        // Events outside the agent's permissions are normal and not reported.
        if (event.name.includes("/")) options.onWithheld(definition.id, event.name, hearing.reason);
        return [];
      }
      seen = hearing.event;
    }
    const answer = hook.accepts(seen, (path) => inGrantedScope(definition.authority, path));
    if (answer.error !== undefined) options.onFilterError(definition.id, hook, answer.error);
    if (!answer.passed) continue;
    deliveries.push({ agent: definition.id, lane, payload: { handler: hook.handler, event: seen } });
  }
  return deliveries;
}
