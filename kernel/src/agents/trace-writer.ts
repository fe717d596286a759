import { newId } from "../base/ids.ts";
import { type Actor, onBehalfField } from "../base/vocabulary/principal.ts";
import type { TraceLevel, TraceStep } from "../base/vocabulary/trace.ts";
import type { SupervisorPorts } from "./ports.ts";

/** The context of a trace. */
export interface TraceContext {
  readonly hook?: string;
  /** If absent, the trace starts a new one. */
  readonly traceId?: string;
  /** The callers that caused the traced action. */
  readonly onBehalfOf?: readonly Actor[];
  /** Which step of an inspected agent it is. */
  readonly step?: TraceStep;
  /** Values of any size, which the trace shows shortened. */
  readonly values?: Readonly<Record<string, unknown>>;
}

/** Writes a trace of one agent. */
export type WriteTrace = (
  level: TraceLevel,
  message: string,
  fields?: Record<string, unknown>,
  context?: TraceContext,
) => void;

export function traceWriter(traces: SupervisorPorts["traces"], agent: string): WriteTrace {
  return (level, message, fields, { hook, traceId = newId(), onBehalfOf = [], step, values } = {}) =>
    traces.write({
      level,
      agent,
      message,
      ...onBehalfField(onBehalfOf),
      trace_id: traceId,
      span_id: newId(),
      ...(hook === undefined ? {} : { hook }),
      ...(step === undefined ? {} : { step }),
      ...(fields === undefined || Object.keys(fields).length === 0 ? {} : { fields }),
      ...(values === undefined ? {} : { values }),
    });
}
