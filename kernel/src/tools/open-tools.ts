import type { Clock } from "../base/clock.ts";
import { notFound } from "../base/errors.ts";
import type { AgentDefinition } from "../base/vocabulary/agent-definition.ts";
import type { Action } from "../base/vocabulary/action.ts";
import { listedTitle, type NamedAction } from "../base/vocabulary/named-action.ts";
import type { Principal } from "../base/vocabulary/principal.ts";
import type { ToolResult } from "../base/vocabulary/tool-result.ts";
import { ArgumentChecker } from "./argument-checker.ts";
import { KeyedCalls } from "./keyed-calls.ts";
import { decodeResult, type GuestToolResult } from "./tool-result.ts";
import { type CallOptions, type InvokeOptions, ToolRegistry } from "./registry.ts";
import type { Database } from "../platform/database/database.ts";

interface AgentsWithTools {
  definitions(): readonly AgentDefinition[];
  /** Throws NotFound. */
  get(agent: string): {
    readonly definition: Pick<AgentDefinition, "actions">;
    callTool: Invoke<string>;
    callAction: Invoke<NamedAction>;
  };
}

type Invoke<Handler> = (
  handler: Handler,
  args: Record<string, unknown>,
  principal: Principal,
  options: InvokeOptions,
) => Promise<unknown>;

interface ToolParts {
  readonly database: Database;
  readonly agents: AgentsWithTools;
  readonly actions: { get(id: string): Promise<Action | null> };
}

export interface KernelTools {
  readonly tools: ToolRegistry;
  /** Checks a value that an agent asked for against the agent's schema. */
  verdictOf: ArgumentChecker["verdictOf"];
  /** The same for several values; the verdict is about the first that does not fit. */
  verdictOfAll: ArgumentChecker["verdictOfAll"];
  /** Throws ToolError if the arguments of a call do not fit the tool's schema. */
  check: ArgumentChecker["check"];
  /** Returns what a guest's answer to a call says; a result that waits for approval comes with the action. */
  completed(agent: string, name: string, answer: unknown): Promise<ToolResult>;
  /** Calls a tool; a result that waits for approval comes with the action. */
  call(
    agent: string,
    name: string,
    args: unknown,
    principal: Principal,
    options: CallOptions,
  ): Promise<ToolResult>;
}

/** Marks the handlers of named actions among those of tools; no function of a program has such a name in the manifest. */
const actionPrefix = "action:";

/** Returns an agent with its named actions as tools. */
function withActionTools({
  id,
  tools,
  actions = [],
}: AgentDefinition): Pick<AgentDefinition, "id" | "tools"> {
  if (actions.length === 0) return { id, tools };
  const asTools = actions.map(({ name, title, description, parameters }) => ({
    name,
    description: description === "" ? `${listedTitle(title)}.` : description,
    handler: `${actionPrefix}${name}`,
    parameters,
  }));
  return { id, tools: [...tools, ...asTools] };
}

/** Opens the registry of the tools that agents offer. */
export async function openTools(
  { clock, opened }: { readonly clock: Clock; readonly opened: AsyncDisposableStack },
  { database, agents, actions }: ToolParts,
): Promise<KernelTools> {
  const checker = new ArgumentChecker();
  const tools = opened.use(
    new ToolRegistry(
      {
        clock,
        owners: () => agents.definitions().map(withActionTools),
        invoke: (agent, handler, args, principal, options) => {
          const supervisor = agents.get(agent);
          if (!handler.startsWith(actionPrefix))
            return supervisor.callTool(handler, args, principal, options);
          const name = handler.slice(actionPrefix.length);
          const action = supervisor.definition.actions?.find((each) => each.name === name);
          if (action === undefined) throw notFound("action", `${agent}/${name}`);
          return supervisor.callAction(action, args, principal, options);
        },
        keyed: await KeyedCalls.open(database, clock),
      },
      checker,
    ),
  );
  const withAction = async (agent: string, name: string, result: GuestToolResult): Promise<ToolResult> => {
    if (result.status !== "needs_approval") return result;
    const action = await actions.get(result.action);
    if (action === null || action.agent !== agent)
      return {
        status: "error" as const,
        message: `${agent}/${name} asked for approval of an action that is not its own.`,
        recoverable: false,
      };
    return { ...result, action };
  };
  return {
    tools,
    verdictOf: (agent, what, schema, value) => checker.verdictOf(agent, what, schema, value),
    verdictOfAll: (caller, what, schema, values) => checker.verdictOfAll(caller, what, schema, values),
    check: (caller, tool, parameters, args) => checker.check(caller, tool, parameters, args),
    completed: (agent, name, answer) => withAction(agent, name, decodeResult(agent, name, answer)),
    call: async (agent, name, args, principal, options) =>
      withAction(agent, name, await tools.call(agent, name, args, principal, options)),
  };
}
