import { neverAborted } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { isLaresError, messageOf, requestCancelled } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import type { NamedAction } from "../../base/vocabulary/named-action.ts";
import { callerName, lineageUnder, type Principal } from "../../base/vocabulary/principal.ts";
import { stackOf } from "../delivery/delivery.ts";
import type { AgentSession, ToolCallOptions } from "../ports.ts";
import { toolFailure } from "../../base/vocabulary/tool-result.ts";
import { proposalOf } from "./named-actions.ts";
import type { OpenCalls } from "./open-calls.ts";
import { PacedProgress } from "./paced-progress.ts";
import type { WriteTrace } from "../trace-writer.ts";

interface ToolCallPorts {
  /** The agent's id. */
  readonly agent: string;
  readonly clock: Clock;
  readonly open: OpenCalls;
  /** Resolves with the agent's session and wakes the agent if it is unloaded. Throws AgentError if it cannot run. */
  awake(): Promise<AgentSession>;
  /** Sends a request to the agent, counted as open work. */
  ask(session: AgentSession, method: string, params: unknown): Promise<unknown>;
  /** Makes the host call `actions/propose` in the agent's name. */
  propose(
    params: object,
    cancelled: AbortSignal | undefined,
  ): Promise<{ readonly id: string; readonly state: string }>;
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
    options: ToolCallOptions,
  ): Promise<unknown> {
    return await this.#run(principal, options, async (session, { call_id, caller }) => {
      const call = { name, arguments: params, call_id, caller };
      return await this.#ports.ask(session, "tool", call);
    });
  }

  /**
   * Asks the handler of a named action for its effects and proposes them on behalf of the call. Returns a tool result with
   * the action, or with the reason why there is no action.
   */
  async callAction(
    action: NamedAction,
    parameters: Record<string, unknown>,
    principal: Principal,
    options: ToolCallOptions,
  ): Promise<unknown> {
    const { agent, ask, propose } = this.#ports;
    return await this.#run(principal, options, async (session, call) => {
      try {
        const answer = await ask(session, "action", { name: action.handler, parameters, ...call });
        const { effects, ...words } = proposalOf(agent, action, parameters, answer);
        if (effects.length === 0)
          return { status: "success", value: { action: null, state: null, reason: words.reason } };
        const proposed = await propose({ effects, ...words, on_behalf: call.call_id }, options.signal);
        return { status: "success", value: { action: proposed.id, state: proposed.state } };
      } catch (error) {
        if (!isLaresError(error) || error.code === "AgentError" || error.code === "RequestCancelled")
          throw error;
        return toolFailure(error);
      }
    });
  }

  async #run(
    principal: Principal,
    { begun, signal = neverAborted, deadline, progress, hear }: ToolCallOptions,
    answered: (
      session: AgentSession,
      call: { readonly call_id: string; readonly caller: string },
    ) => Promise<unknown>,
  ): Promise<unknown> {
    const { clock, open, awake } = this.#ports;
    signal.throwIfAborted();
    const session = await awake();
    signal.throwIfAborted();
    await begun?.();
    const id = newId();
    using paced = progress === undefined ? null : new PacedProgress(clock, progress);
    open.begin(id, lineageUnder(principal), paced?.sink, deadline);
    const cancel = (): void => this.#cancel(session, id, signal.reason);
    signal.addEventListener("abort", cancel, { once: true });
    if (signal.aborted) cancel();
    try {
      return await answered(session, { call_id: id, caller: callerName(principal) });
    } catch (error) {
      // The guest is gone or answered too late.
      if (isLaresError(error, "AgentError")) open.abort(id, error);
      throw error;
    } finally {
      signal.removeEventListener("abort", cancel);
      hear?.(open.through(id));
      open.end(id);
    }
  }

  /** A guest that does not support the request is not told: its handler continues within its limits. */
  #cancel(session: AgentSession, id: string, reason: unknown): void {
    const { open, ask, cancelsTools, trace } = this.#ports;
    // Calls further down the chain report whose deadline has passed.
    const isOverdue = isLaresError(reason, "DeadlineExceeded");
    open.abort(id, isOverdue ? reason : requestCancelled("The call that this was for was cancelled."));
    if (!cancelsTools()) return;
    ask(session, "cancelTool", { call_id: id }).catch((error: unknown) => {
      if (!isLaresError(error, "AgentError"))
        trace("warn", `the tool was not cancelled: ${messageOf(error)}`, stackOf(error));
    });
  }
}
