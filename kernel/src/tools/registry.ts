import { JoinedSignals, neverAborted, unlessAborted } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { type Deadline, deadlineExceeded, earlierDeadline } from "../base/deadline.ts";
import { LaresError, limitExceeded, notFound } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";
import { closest } from "../base/suggest.ts";
import type { Foreign } from "../base/vocabulary/foreign.ts";
import {
  type Actor,
  callerName,
  maxCallDepth,
  maxChainAgents,
  type Principal,
} from "../base/vocabulary/principal.ts";
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
  readonly clock: Clock;
  owners(): readonly ToolOwner[];
  /** Passes the call to the agent; rejects with AgentError if it cannot run. */
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
  /** Awaited immediately before the handler is called: an earlier failure had no effect. */
  readonly begun?: () => Promise<void>;
  /** Aborted when the caller no longer waits. */
  readonly signal: AbortSignal;
  /** The latest time for that; calls that the handler makes end by then too. */
  readonly deadline?: Deadline;
  /** Receives the handler's progress. */
  readonly progress?: ProgressSink;
  /** Receives, before the answer, what it may hold of texts that nobody vouches for. */
  readonly hear?: (foreign: Foreign) => void;
}

export interface CallOptions {
  /** Chosen by the caller: a repeated call with the same key gets the outcome of the first. */
  readonly key?: string;
  /** When it is aborted, the call rejects with its reason at once, and the handler is told to stop. */
  readonly signal?: AbortSignal;
  /** How long the caller waits. */
  readonly deadlineMs?: number;
  /** The time until which somebody waits for the call that this one is made for. */
  readonly deadline?: Deadline;
  /** Receives the handler's progress until the call has ended. */
  readonly progress?: ProgressSink;
  /** Receives, before the answer, what it may hold of texts that nobody vouches for; of a repeated call too. */
  readonly hear?: (foreign: Foreign) => void;
}

/** The number of calls that may be open at once, which ends a ring of agents that call each other. */
export const openToolCalls = 256;
/** The number of open calls that one agent may have as the caller; the rest is for others. */
export const openToolCallsPerAgent = 32;

/** Whose open calls and keys these are: those of whoever's authority bounds the caller. Agents' ids have a dot. */
function accountOf(actor: Actor): string {
  return boundingAgent(actor) ?? (actor.kind === "kernel" ? "kernel" : "user");
}

/** The registry of tools, which calls them with arguments that match their schemas. */
export class ToolRegistry implements AsyncDisposable {
  readonly #ports: ToolPorts;
  readonly #checker: ArgumentChecker;
  /** The number of open calls of each caller. */
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
   * Calls a tool. Throws NotFound if there is none, ToolError if the arguments do not match its schema, AgentError
   * if its agent cannot run, LimitExceeded if too many calls are open, in total or of this caller, if too many
   * calls led here, or if the agent would be called within its own call; InvalidParams if the key names another
   * call; DeadlineExceeded if it is not answered before its deadline, or that of the call that it is made for.
   */
  call(
    agent: string,
    name: string,
    args: unknown,
    principal: Principal,
    options: CallOptions = {},
  ): Promise<GuestToolResult> {
    const { signal = neverAborted, deadlineMs, deadline: callers, ...how } = options;
    const deadline = earlierDeadline(
      callers,
      deadlineMs === undefined
        ? undefined
        : {
            atMs: this.#ports.clock.monotonic() + deadlineMs,
            allowedMs: deadlineMs,
            setBy: principal.kind === "person" ? "a person" : callerName(principal),
            call: `${agent}/${name}`,
          },
    );
    const run = (until: AbortSignal): Promise<GuestToolResult> =>
      this.#call(agent, name, args, principal, {
        ...how,
        signal: until,
        ...(deadline === undefined ? {} : { deadline }),
      });
    // A handler that does not stop keeps the call open, and its outcome is stored if the call has a key.
    return deadline === undefined
      ? unlessAborted(run(signal), signal)
      : this.#withinDeadline(deadline, signal, run);
  }

  async #withinDeadline(
    deadline: Deadline,
    signal: AbortSignal,
    run: (until: AbortSignal) => Promise<GuestToolResult>,
  ): Promise<GuestToolResult> {
    const { clock } = this.#ports;
    const leftMs = deadline.atMs - clock.monotonic();
    if (leftMs <= 0) throw deadlineExceeded(deadline);
    const over = new AbortController();
    const timer = clock.timer(leftMs, () => over.abort(deadlineExceeded(deadline)));
    const either = new JoinedSignals(signal, over.signal);
    const until = either.signal;
    const work = run(until);
    const ended = (): void => {
      timer[Symbol.dispose]();
      either[Symbol.dispose]();
    };
    work.then(ended, ended);
    const answer = await unlessAborted(work, until);
    // The same deadline may end a call of its handler first, which then answers before this timer.
    if (clock.monotonic() >= deadline.atMs) throw deadlineExceeded(deadline);
    return answer;
  }

  async #call(
    agent: string,
    name: string,
    args: unknown,
    principal: Principal,
    { key, ...how }: InvokeOptions & Pick<CallOptions, "key">,
  ): Promise<GuestToolResult> {
    const owner = this.#ports.owners().find(({ id }) => id === agent);
    if (owner === undefined) throw notFound("agent", agent);
    const tool = owner.tools.find((candidate) => candidate.name === name);
    if (tool === undefined) throw noTool(owner, name);
    refuseCircles(agent, principal);
    const caller = accountOf(principal);
    this.#begin(caller, boundingAgent(principal) !== null);
    const given = args ?? {};
    const run = async (options: InvokeOptions): Promise<GuestToolResult> => {
      how.signal.throwIfAborted();
      await this.#checker.check(caller, `${agent}/${name}`, tool.parameters, given);
      // A schema may accept values other than objects.
      if (!isJsonObject(given))
        throw new LaresError("ToolError", `${agent}/${name}: arguments must be an object.`);
      const answer = await this.#ports.invoke(agent, tool.handler, given, principal, options);
      return decodeResult(agent, name, answer);
    };
    try {
      if (key === undefined) return await run(how);
      const { depth } = principal.lineage;
      const onBehalfOf = boundingAgents(boundingAgent(principal), principal.lineage.onBehalfOf);
      const identity = { agent, name, arguments: given, onBehalfOf };
      return await this.#ports.keyed.run(
        { caller, key, identity, depth },
        (begun, hear) => run({ ...how, begun, hear }),
        how.hear,
      );
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
      limitExceeded(limit, value, `${value} tool calls${whose} are open. Try again when some have ended.`);
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

function noTool({ id, tools }: ToolOwner, name: string): LaresError {
  const full = `${id}/${name}`;
  const best = closest(
    name,
    tools.map((tool) => tool.name),
  );
  if (best === undefined) return notFound("tool", full);
  return new LaresError("NotFound", `There is no tool "${full}"; did you mean "${id}/${best}"?`, {
    what: "tool",
    name: full,
  });
}

/** The handler of a call may call other agents, but not in a circle, because its calls would wait for each other. */
function refuseCircles(agent: string, principal: Principal): void {
  const { lineage } = principal;
  if (lineage.depth >= maxCallDepth)
    throw limitExceeded(
      "tool_call_depth",
      maxCallDepth,
      `${maxCallDepth} calls of tools led to this one, which is the limit.`,
    );
  const chain = new Set([...boundingAgents(null, [principal, ...lineage.onBehalfOf]), agent]);
  if (chain.size > maxChainAgents)
    throw limitExceeded(
      "tool_call_depth",
      maxChainAgents,
      `${maxChainAgents} agents take part in the calls that led to this one, which is the limit.`,
    );
  const id = boundingAgent(principal);
  if (agent !== id && boundingAgents(id, lineage.onBehalfOf).includes(agent))
    throw limitExceeded(
      "tool_call_cycle",
      lineage.depth,
      `${agent} is part of what led to this call of ${id ?? "this"}, so ${id ?? "this"} cannot call it.`,
    );
}
