import { neverAborted, unlessAborted } from "../base/abort.ts";
import { LaresError, limitExceeded, notFound } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";
import { type Actor, maxCallDepth, type Principal } from "../base/vocabulary/principal.ts";
import type { ProgressSink } from "../base/vocabulary/progress.ts";
import type { Tool } from "../base/vocabulary/agent.ts";
import { boundingAgent, boundingAgents } from "../policy/principals.ts";
import { ArgumentChecker } from "./argument-checker.ts";
import type { KeyedCalls } from "./keyed-calls.ts";
import { decodeResult, type GuestToolResult } from "./tool-result.ts";

/** What the registry needs to know of an agent that offers tools. */
interface ToolOwner {
  readonly id: string;
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly handler: string;
    readonly parameters: Record<string, unknown>;
  }[];
}

export interface ToolPorts {
  owners(): readonly ToolOwner[];
  /** Hands the call to the agent; rejects with AgentError where it cannot run. */
  invoke(
    agent: string,
    handler: string,
    args: Record<string, unknown>,
    principal: Principal,
    options: InvokeOptions,
  ): Promise<unknown>;
  readonly keyed: Pick<KeyedCalls, "run">;
}

export interface InvokeOptions {
  /** Awaited immediately before the handler is asked: what fails before had no effect. */
  readonly begun?: () => Promise<void>;
  /** Aborted when the caller no longer waits. */
  readonly signal: AbortSignal;
  /** Is told how far the handler says it is. */
  readonly progress?: ProgressSink;
}

export interface CallOptions {
  /** Chosen by the caller: a repeated call with the same key gets the outcome of the first. */
  readonly key?: string;
  /** Where it is aborted, the call rejects with its reason at once, and the handler is told to leave. */
  readonly signal?: AbortSignal;
  /** Is told how far the handler says it is, until the call has ended. */
  readonly progress?: ProgressSink;
}

/** How many calls may be on their way through agents at once: a ring of agents calling each other ends here. */
export const openToolCalls = 256;
/** How many of them one agent may have as the caller: what is left is for the others. */
export const openToolCallsPerAgent = 32;

/** Whose open calls and keys these are: those of whoever's authority bounds the caller. Agents' ids have a dot. */
function accountOf(actor: Actor): string {
  return boundingAgent(actor) ?? (actor.kind === "kernel" ? "kernel" : "user");
}

/** Which tools there are, and calling them with arguments that fit their schema. */
export class ToolRegistry implements AsyncDisposable {
  readonly #ports: ToolPorts;
  readonly #checker: ArgumentChecker;
  /** Open calls of each caller that has some. */
  readonly #openOf = new Map<string, number>();
  #open = 0;

  constructor(ports: ToolPorts, checker = new ArgumentChecker()) {
    this.#ports = ports;
    this.#checker = checker;
  }

  list(agent?: string): Tool[] {
    return this.#ports
      .owners()
      .filter((owner) => agent === undefined || owner.id === agent)
      .flatMap((owner) =>
        owner.tools.map(({ name, description, parameters }) => ({
          agent: owner.id,
          name,
          description,
          parameters,
        })),
      );
  }

  /**
   * Calls a tool. Throws NotFound where there is none, ToolError where the arguments do not fit its schema,
   * AgentError where its agent cannot run, LimitExceeded where too many calls are open, of all or of this caller, where
   * too many led here, and where the agent is called again on the way of its own call; InvalidParams where the key names
   * another call.
   */
  call(
    agent: string,
    name: string,
    args: unknown,
    principal: Principal,
    options: CallOptions = {},
  ): Promise<GuestToolResult> {
    const { signal = neverAborted } = options;
    // A handler that does not leave keeps the call open behind it, and its outcome is stored where it has a key.
    return unlessAborted(this.#call(agent, name, args, principal, { ...options, signal }), signal);
  }

  async #call(
    agent: string,
    name: string,
    args: unknown,
    principal: Principal,
    { key, ...how }: CallOptions & { readonly signal: AbortSignal },
  ): Promise<GuestToolResult> {
    const owner = this.#ports.owners().find(({ id }) => id === agent);
    if (owner === undefined) throw notFound("agent", agent);
    const tool = owner.tools.find((candidate) => candidate.name === name);
    if (tool === undefined) throw notFound("tool", `${agent}/${name}`);
    refuseCircles(agent, principal);
    const caller = accountOf(principal);
    this.#begin(caller, boundingAgent(principal) !== null);
    const given = args ?? {};
    const run = async (options: InvokeOptions): Promise<GuestToolResult> => {
      how.signal.throwIfAborted();
      await this.#checker.check(caller, `${agent}/${name}`, tool.parameters, given);
      // Where a schema asks for no object.
      if (!isJsonObject(given)) throw new LaresError("ToolError", `${agent}/${name}: arguments are named.`);
      const answer = await this.#ports.invoke(agent, tool.handler, given, principal, options);
      return decodeResult(agent, name, answer);
    };
    try {
      if (key === undefined) return await run(how);
      const { depth } = principal.lineage;
      const onBehalfOf = boundingAgents(boundingAgent(principal), principal.lineage.onBehalfOf);
      const identity = { agent, name, arguments: given, onBehalfOf };
      return await this.#ports.keyed.run({ caller, key, identity, depth }, (begun) => run({ ...how, begun }));
    } finally {
      this.#end(caller);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#checker[Symbol.asyncDispose]();
  }

  #begin(caller: string, isAgent: boolean): void {
    const own = this.#openOf.get(caller) ?? 0;
    const refuse = (limit: string, value: number, whose: string): LaresError =>
      limitExceeded(limit, value, `${value} tool calls${whose} are open; try again when some have ended.`);
    if (own >= openToolCallsPerAgent && isAgent)
      throw refuse("open_tool_calls_per_agent", openToolCallsPerAgent, ` of ${caller}`);
    if (this.#open >= openToolCalls) throw refuse("open_tool_calls", openToolCalls, "");
    this.#open += 1;
    this.#openOf.set(caller, own + 1);
  }

  #end(caller: string): void {
    this.#open -= 1;
    const left = (this.#openOf.get(caller) ?? 1) - 1;
    if (left === 0) this.#openOf.delete(caller);
    else this.#openOf.set(caller, left);
  }
}

/** Whoever answers a call may call others for it, and no circle: its calls would wait for each other. */
function refuseCircles(agent: string, principal: Principal): void {
  const { lineage } = principal;
  if (lineage.depth >= maxCallDepth)
    throw limitExceeded(
      "tool_call_depth",
      maxCallDepth,
      `${maxCallDepth} calls of tools led to this one; no more may.`,
    );
  const id = boundingAgent(principal);
  if (agent !== id && boundingAgents(id, lineage.onBehalfOf).includes(agent))
    throw limitExceeded(
      "tool_call_cycle",
      lineage.depth,
      `${agent} waits for ${id ?? "this"} in this chain of calls, so ${id ?? "this"} cannot call it.`,
    );
}
