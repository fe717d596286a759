import type { Caller } from "../../agents/ports.ts";
import { newId } from "../../base/ids.ts";
import { onBehalfField } from "../../base/vocabulary/principal.ts";
import { type TraceEntry, traceLevels, type TraceLevel } from "../../base/vocabulary/trace.ts";
import type { GuestServices } from "../../protocol/guest/v1/calls.ts";

export interface TracePorts {
  readonly traces: { write(entry: Omit<TraceEntry, "timestamp">): void };
  /** The minimum level at which an agent's own traces are stored. */
  traceLevelOf(agent: string): TraceLevel;
}

/** The guest ABI's `trace`, which has no answer. */
export function traceServices({ traces, traceLevelOf }: TracePorts): Pick<GuestServices<Caller>, "trace"> {
  return {
    trace: async (caller, { level, message, fields }) => {
      if (traceLevels.indexOf(level) < traceLevels.indexOf(traceLevelOf(caller.agent))) return;
      traces.write({
        level,
        agent: caller.agent,
        message,
        ...onBehalfField(caller.lineage.onBehalfOf),
        trace_id: caller.traceId ?? newId(),
        span_id: newId(),
        ...(caller.hook === undefined ? {} : { hook: caller.hook }),
        ...(fields === undefined ? {} : { fields }),
      });
    },
  };
}
