import type { Clock } from "../../base/clock.ts";
import { LaresError, messageOf } from "../../base/errors.ts";
import { isJsonObject } from "../../base/json.ts";
import type { InHand } from "../ports.ts";
import type { WriteTrace } from "../trace-writer.ts";
import { onBehalfIn } from "./attribution.ts";

interface InspectorPorts {
  readonly clock: Pick<Clock, "monotonic">;
  readonly isInspected: () => boolean;
  readonly trace: WriteTrace;
}

/**
 * Traces the steps of an inspected agent, with values: what its guest is asked to do, each host call that it makes for
 * that, and how it ended. To be asked only while `isOn`.
 */
export class Inspector {
  readonly #ports: InspectorPorts;
  /** The number of host calls since the guest was last asked something. */
  #calls = 0;

  constructor(ports: InspectorPorts) {
    this.#ports = ports;
  }

  get isOn(): boolean {
    return this.#ports.isInspected();
  }

  /** Runs a request to the guest. `handler` is the name of the program's part that answers it. */
  async request<Result>(
    method: string,
    handler: string,
    params: unknown,
    run: () => Promise<Result>,
  ): Promise<Result> {
    const { clock, trace } = this.#ports;
    const { cause, traceId } = causeOf(method, params);
    const context = { hook: handler, ...(traceId === undefined ? {} : { traceId }) };
    const about = { handler, method };
    this.#calls = 0;
    const values = isJsonObject(params) ? params : { params };
    trace("debug", `${handler} begins${cause === undefined ? "" : `: ${cause}`}`, about, {
      ...context,
      step: "begin",
      values,
    });
    const begunAt = clock.monotonic();
    const took = (): { took_ms: number } => ({ took_ms: tenths(clock.monotonic() - begunAt) });
    try {
      const result = await run();
      trace(
        "debug",
        `${handler} returned`,
        { ...about, ...took() },
        { ...context, step: "end", values: { result } },
      );
      return result;
    } catch (error) {
      const place = error instanceof LaresError ? error.facts["place"] : undefined;
      const failure = { ...about, ...took(), ...(place === undefined ? {} : { place }) };
      trace("debug", `${handler} failed`, failure, {
        ...context,
        step: "end",
        values: { error: messageOf(error) },
      });
      throw error;
    }
  }

  /** Runs a host call of the guest, and traces it as a step of this work. */
  async hostCall<Result>(
    method: string,
    params: unknown,
    { hook, traceId, job }: InHand,
    run: () => Promise<Result>,
  ): Promise<Result> {
    const { clock, trace } = this.#ports;
    // The guest's own traces are there already.
    if (method === "trace") return await run();
    const number = ++this.#calls;
    const id = onBehalfIn(params) ?? traceId ?? job;
    const context = {
      step: "call" as const,
      ...(hook === undefined ? {} : { hook }),
      ...(id === undefined ? {} : { traceId: id }),
    };
    const begunAt = clock.monotonic();
    const about = (): Record<string, unknown> => ({
      call: method,
      number,
      took_ms: tenths(clock.monotonic() - begunAt),
    });
    try {
      const result = await run();
      trace("debug", method, about(), { ...context, values: { params, result } });
      return result;
    } catch (error) {
      trace("debug", `${method} failed`, about(), {
        ...context,
        values: { params, error: messageOf(error) },
      });
      throw error;
    }
  }
}

/** What made the kernel ask, and the id that host calls for it carry. */
function causeOf(method: string, params: unknown): { cause?: string; traceId?: string } {
  if (!isJsonObject(params)) return {};
  const { event, call_id: call, id, job } = params;
  if (isJsonObject(event)) {
    const traceId = textOf(call) ?? textOf(event["id"]);
    return { cause: String(event["name"]), ...(traceId === undefined ? {} : { traceId }) };
  }
  const traceId = textOf(call) ?? textOf(id) ?? textOf(job);
  return { cause: method, ...(traceId === undefined ? {} : { traceId }) };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}
