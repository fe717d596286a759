import { neverAborted } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { isLaresError, messageOf, requestCancelled } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import { callerName, lineageUnder, type Principal } from "../../base/vocabulary/principal.ts";
import { stackOf } from "../delivery/delivery.ts";
import type { AgentSession, ToolCallOptions } from "../ports.ts";
import type { OpenCalls } from "./open-calls.ts";
import { PacedProgress } from "./paced-progress.ts";
import type { WriteTrace } from "../trace-writer.ts";

interface ToolCallPorts {
  readonly clock: Clock;
  readonly open: OpenCalls;
  /** Resolves with the agent's session and wakes the agent if it is unloaded. Throws AgentError if it cannot run. */
  awake(): Promise<AgentSession>;
  /** Sends a request to the agent, counted as open work. */
  ask(session: AgentSession, method: string, params: unknown): Promise<unknown>;
  /** True if the loaded agent supports the request `cancelTool`. */
  cancelsTools(): boolean;
  readonly trace: WriteTrace;
}

/** Runs calls of one agent's tools, from waking the agent to its answer. */
export class ToolCalls {
  readonly #ports: ToolCallPorts;

  constructor(ports: ToolCallPorts) {
    this.#ports = ports;
  }

  /**
   * Awaits `begun` immediately before sending the request. If the signal is aborted after that, the agent is told,
   * and its answer still ends the call.
   */
  async call(
    name: string,
    params: Record<string, unknown>,
    principal: Principal,
    { begun, signal = neverAborted, progress }: ToolCallOptions,
  ): Promise<unknown> {
    const { clock, open, awake, ask } = this.#ports;
    signal.throwIfAborted();
    const session = await awake();
    signal.throwIfAborted();
    await begun?.();
    const id = newId();
    using paced = progress === undefined ? null : new PacedProgress(clock, progress);
    open.begin(id, lineageUnder(principal), paced?.sink);
    const cancel = (): void => this.#cancel(session, id);
    signal.addEventListener("abort", cancel, { once: true });
    if (signal.aborted) cancel();
    try {
      const call = { name, arguments: params, call_id: id, caller: callerName(principal) };
      return await ask(session, "tool", call);
    } catch (error) {
      // The guest is gone or answered too late.
      if (isLaresError(error, "AgentError")) open.abort(id, error);
      throw error;
    } finally {
      signal.removeEventListener("abort", cancel);
      open.end(id);
    }
  }

  /** A guest that does not support the request is not told: its handler continues within its limits. */
  #cancel(session: AgentSession, id: string): void {
    const { open, ask, cancelsTools, trace } = this.#ports;
    open.abort(id, requestCancelled("The call that this was for was cancelled."));
    if (!cancelsTools()) return;
    ask(session, "cancelTool", { call_id: id }).catch((error: unknown) => {
      if (!isLaresError(error, "AgentError"))
        trace("warn", `the tool was not cancelled: ${messageOf(error)}`, stackOf(error));
    });
  }
}
