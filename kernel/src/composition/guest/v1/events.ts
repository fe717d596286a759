import type { Caller } from "../../../agents/ports.ts";
import { invalidParams, limitExceeded } from "../../../base/errors.ts";
import { isJsonObject, type JsonValue } from "../../../base/json.ts";
import type { Foreign } from "../../../base/vocabulary/foreign.ts";
import type { GuestServices } from "../../../protocol/guest/v1/calls.ts";
import type { eventCalls } from "../../../protocol/guest/v1/events.ts";

/** Maximum length of one custom event's JSON, in characters. */
const maxEventCharacters = 64 * 1024;

export interface EventPorts {
  emit(name: string, data: Readonly<Record<string, JsonValue | undefined>>, foreign: Foreign): Promise<void>;
}

/** The guest ABI's `events/*`. */
export function eventServices({ emit }: EventPorts): Pick<GuestServices<Caller>, keyof typeof eventCalls> {
  return {
    "events/emit": async (caller, { name, data }) => {
      if (data !== null && !isJsonObject(data))
        throw invalidParams(
          `The data of the event ${name} has to be an object: what is in it becomes the event's fields, as in { person: "Ada" }.`,
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
      await emit(`${caller.agent}/${name}`, fields, caller.foreign);
      return {};
    },
  };
}
