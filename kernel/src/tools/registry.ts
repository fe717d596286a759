import { LaresError, limitExceeded, notFound } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";
import type { Tool } from "../base/vocabulary/agent.ts";
import { ArgumentChecker } from "./argument-checker.ts";

/** The answer of a tool, as the guest gives it. */
export type GuestToolResult =
  | { readonly status: "success"; readonly value: unknown }
  | { readonly status: "error"; readonly message: string; readonly recoverable: boolean }
  | { readonly status: "needs_approval"; readonly action: string; readonly reason: string };

/** What the registry needs to know of an agent that offers tools. */
export interface ToolOwner {
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
  invoke(agent: string, handler: string, args: Record<string, unknown>, caller: string): Promise<unknown>;
}

/** How many calls may be on their way through agents at once: a ring of agents calling each other ends here. */
export const openToolCalls = 256;
/** How many of them one agent may have as the caller: what is left is for the others. */
export const openToolCallsPerAgent = 32;

/** The caller's name where a client calls on behalf of a person; agents' ids have a dot. */
const person = "user";

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
   * AgentError where its agent cannot run, LimitExceeded where too many calls are open, of all or of this caller.
   */
  async call(agent: string, name: string, args: unknown, caller: string): Promise<GuestToolResult> {
    const owner = this.#ports.owners().find(({ id }) => id === agent);
    if (owner === undefined) throw notFound("agent", agent);
    const tool = owner.tools.find((candidate) => candidate.name === name);
    if (tool === undefined) throw notFound("tool", `${agent}/${name}`);
    this.#begin(caller);
    try {
      const given = args ?? {};
      await this.#checker.check(caller, `${agent}/${name}`, tool.parameters, given);
      // Where a schema asks for no object.
      if (!isJsonObject(given)) throw new LaresError("ToolError", `${agent}/${name}: arguments are named.`);
      return decodeResult(agent, name, await this.#ports.invoke(agent, tool.handler, given, caller));
    } finally {
      this.#end(caller);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#checker[Symbol.asyncDispose]();
  }

  #begin(caller: string): void {
    const own = this.#openOf.get(caller) ?? 0;
    const refuse = (limit: string, value: number, whose: string): LaresError =>
      limitExceeded(limit, value, `${value} tool calls${whose} are open; try again when some have ended.`);
    if (own >= openToolCallsPerAgent && caller !== person)
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

function decodeResult(agent: string, name: string, answer: unknown): GuestToolResult {
  const record = (typeof answer === "object" && answer !== null ? answer : {}) as Record<string, unknown>;
  switch (record["status"]) {
    case "success":
      return { status: "success", value: record["value"] ?? null };
    case "error":
      return {
        status: "error",
        message: textOf(record["message"], "The tool failed."),
        recoverable: record["recoverable"] === true,
      };
    case "needs_approval": {
      const action = record["action"];
      const id = typeof action === "string" ? action : (action as { id?: unknown } | undefined)?.id;
      if (typeof id === "string") {
        return { status: "needs_approval", action: id, reason: textOf(record["reason"], "") };
      }
    }
  }
  throw new LaresError("AgentError", `${agent}/${name} answered with something that is no tool result.`, {
    state: "Active",
    reason: "The answer has no known status.",
  });
}

function textOf(value: unknown, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}
