import type { Caller } from "../../agents/ports.ts";
import { invalidParams, LaresError, limitExceeded, permissionDenied } from "../../base/errors.ts";
import { isJsonObject, type JsonValue } from "../../base/json.ts";
import type { EventDefinition } from "../../base/vocabulary/agent-definition.ts";
import type { Foreign } from "../../base/vocabulary/foreign.ts";
import type { Lineage } from "../../base/vocabulary/principal.ts";
import type { GuestServices } from "../../protocol/guest/v1/calls.ts";
import type { eventCalls } from "../../protocol/guest/v1/events.ts";
import { pathOf } from "../../protocol/validate.ts";
import type { ValueVerdict } from "./ports.ts";

/** Maximum length of one custom event's JSON, in characters. */
const maxEventCharacters = 64 * 1024;

type Fields = Readonly<Record<string, JsonValue | undefined>>;

export interface EventPorts {
  /** Returns the events that an agent declares; undefined if it declares none. */
  declaredEvents(agent: string): readonly EventDefinition[] | undefined;
  /** Checks a value of the agent against its schema; `what` names it. */
  verdictOf(
    agent: string,
    what: string,
    schema: Record<string, unknown>,
    value: unknown,
  ): Promise<ValueVerdict>;
  /** `lineage`: on whose behalf the agent emits. Throws LimitExceeded if too many steps led to the event. */
  emit(name: string, data: Fields, foreign: Foreign, lineage: Lineage): Promise<void>;
}

/** The guest ABI's `events/*`. */
export function eventServices({
  declaredEvents,
  verdictOf,
  emit,
}: EventPorts): Pick<GuestServices<Caller>, keyof typeof eventCalls> {
  /** Throws if the event is not as the agent declares it; returns the version of the declaration, if there is one. */
  const versionOf = async (agent: string, name: string, fields: Fields): Promise<number | undefined> => {
    const declared = declaredEvents(agent);
    if (declared === undefined) return undefined;
    const event = declared.find((one) => one.name === name);
    if (event === undefined)
      throw permissionDenied(
        agent,
        "emit_events",
        `${agent} does not declare the event "${name}". Declare it under events in its manifest, with a schema of its fields.`,
      );
    const verdict = await verdictOf(agent, `events/emit ${name}`, event.schema, fields);
    switch (verdict.kind) {
      case "fits":
        return event.version;
      case "unfit": {
        const path = `params.data${pathOf(verdict.path)}`;
        throw invalidParams(`The event ${name}: ${path} ${verdict.message}.`, { path });
      }
      case "bad schema":
        throw invalidParams(
          `The fields of the event ${name} are not a valid JSON Schema: ${verdict.message}`,
          {
            path: "params.name",
          },
        );
      case "slow":
        throw new LaresError(
          "LimitExceeded",
          `The fields of the event ${name} take too long to check. ${verdict.message}`,
        );
    }
  };
  return {
    "events/emit": async (caller, { name, data }) => {
      if (data !== null && !isJsonObject(data))
        throw invalidParams(
          `The data of the event ${name} has to be an object: what is in it becomes the event's fields, as in { person: "Ada" }.`,
          { path: "params.data" },
        );
      const fields = data ?? {};
      const size = JSON.stringify(fields).length;
      if (size > maxEventCharacters) {
        throw limitExceeded(
          "event_data",
          size,
          `The event ${name} has ${size} characters of data; at most ${maxEventCharacters} are sent. Put what is larger into a file or a memory.`,
        );
      }
      const version = await versionOf(caller.agent, name, fields);
      const declared = version === undefined ? fields : { ...fields, version };
      await emit(`${caller.agent}/${name}`, declared, caller.foreign, caller.lineage);
      return {};
    },
  };
}
