import { newId } from "../../base/ids.ts";
import type { TraceLevel } from "../../base/vocabulary/trace.ts";
import type { SupervisorPorts } from "../ports.ts";

/** Writes a trace of one agent; without a `traceId` it is one of its own. */
export type WriteTrace = (
  level: TraceLevel,
  message: string,
  fields?: Record<string, unknown>,
  hook?: string,
  traceId?: string,
) => void;

export function traceWriter(traces: SupervisorPorts["traces"], agent: string): WriteTrace {
  return (level, message, fields, hook, traceId = newId()) =>
    traces.write({
      level,
      agent,
      message,
      trace_id: traceId,
      span_id: newId(),
      ...(hook === undefined ? {} : { hook }),
      ...(fields === undefined || Object.keys(fields).length === 0 ? {} : { fields }),
    });
}
