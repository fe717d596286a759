import type { Ajv as AjvInstance, ValidateFunction } from "ajv";
import { LaresError, messageOf, notFound } from "../base/errors.ts";
import type { Tool } from "../base/vocabulary/agent.ts";

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
/** Compiled argument schemas kept. */
const compiledSchemas = 512;

/** Which tools there are, and calling them with arguments that fit their schema. */
export class ToolRegistry {
  readonly #ports: ToolPorts;
  readonly #validators = new Map<string, ValidateFunction>();
  #ajv: AjvInstance | null = null;
  #open = 0;

  constructor(ports: ToolPorts) {
    this.#ports = ports;
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
   * AgentError where its agent cannot run, LimitExceeded where too many calls are open.
   */
  async call(agent: string, name: string, args: unknown, caller: string): Promise<GuestToolResult> {
    const owner = this.#ports.owners().find(({ id }) => id === agent);
    if (owner === undefined) throw notFound("agent", agent);
    const tool = owner.tools.find((candidate) => candidate.name === name);
    if (tool === undefined) throw notFound("tool", `${agent}/${name}`);
    const checked = await this.#check(agent, tool.name, tool.parameters, args ?? {});
    if (this.#open >= openToolCalls) {
      throw new LaresError(
        "LimitExceeded",
        `${openToolCalls} tool calls are open; try again when some have ended.`,
        {
          limit: "open_tool_calls",
          value: openToolCalls,
        },
      );
    }
    this.#open += 1;
    try {
      return decodeResult(agent, name, await this.#ports.invoke(agent, tool.handler, checked, caller));
    } finally {
      this.#open -= 1;
    }
  }

  async #check(
    agent: string,
    name: string,
    schema: Record<string, unknown>,
    args: unknown,
  ): Promise<Record<string, unknown>> {
    const validate = await this.#validator(agent, name, schema);
    if (validate(args)) return args as Record<string, unknown>;
    const [first] = validate.errors ?? [];
    const where =
      first?.instancePath === undefined || first.instancePath === "" ? "the arguments" : first.instancePath;
    const facts = first?.params === undefined ? "" : ` (${JSON.stringify(first.params)})`;
    throw new LaresError(
      "ToolError",
      `${agent}/${name}: ${where} ${first?.message ?? "do not fit"}${facts}.`,
      {
        errors: (validate.errors ?? [])
          .slice(0, 10)
          .map(({ instancePath, message }) => ({ path: instancePath, message })),
      },
    );
  }

  async #validator(agent: string, name: string, schema: Record<string, unknown>): Promise<ValidateFunction> {
    const key = `${agent}/${name}\n${JSON.stringify(schema)}`;
    const known = this.#validators.get(key);
    if (known !== undefined) return known;
    this.#ajv ??= await loadAjv();
    let compiled: ValidateFunction;
    try {
      compiled = this.#ajv.compile(schema);
    } catch (error) {
      throw new LaresError(
        "ToolError",
        `The parameters of ${agent}/${name} are no valid JSON Schema: ${messageOf(error)}`,
      );
    }
    const oldest = this.#validators.keys().next();
    if (this.#validators.size >= compiledSchemas && oldest.done !== true)
      this.#validators.delete(oldest.value);
    this.#validators.set(key, compiled);
    return compiled;
  }
}

/** Loaded with the first call: most kernels never call a tool. */
async function loadAjv(): Promise<AjvInstance> {
  const { Ajv } = await import("ajv");
  const formats = (await import("ajv-formats")).default;
  // Patterns come from manifests: they run on RE2, where no pattern can be slow.
  const { RE2JS } = await import("re2js");
  const regExp = Object.assign(
    (pattern: string) => {
      const compiled = RE2JS.compile(pattern);
      return { test: (text: string) => compiled.matcher(text).find() };
    },
    { code: "lares-re2" },
  );
  const ajv = new Ajv({ allErrors: false, strict: false, addUsedSchema: false, code: { regExp } });
  formats.default(ajv);
  return ajv;
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
