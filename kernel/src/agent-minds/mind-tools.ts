import type { Supervisor } from "../agents/lifecycle/supervisor.ts";
import type { Clock } from "../base/clock.ts";
import { isLaresError, LaresError, messageOf, notFound } from "../base/errors.ts";
import { canonicalJson } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import { closest } from "../base/suggest.ts";
import type { Foreign } from "../base/vocabulary/foreign.ts";
import type { ProcessPrincipal } from "../base/vocabulary/principal.ts";
import type { ProgressSink } from "../base/vocabulary/progress.ts";
import { toolFailure, type ToolResult } from "../base/vocabulary/tool-result.ts";
import type { FileTool } from "../file-tools/definitions.ts";
import { FileTools } from "../file-tools/file-tools.ts";
import type { ContentSum, FileAccess, ShownFile } from "../file-tools/ports.ts";
import { sha256, sha256Sum } from "../platform/files/hash.ts";
import type { GuestCall, GuestCallParams, GuestCallResult } from "../protocol/guest/v1/calls.ts";
import { validate } from "../protocol/validate.ts";

/** A tool as a process of a mind is offered it. */
interface MindTool {
  /** `files/read`, or the id of an agent and its tool's name, with a slash between them. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema. */
  readonly parameters: Record<string, unknown>;
}

export interface MindToolOptions {
  /** The names of the tools that the process was offered. */
  readonly offered: readonly string[];
  /** Names the call, uniquely in its conversation. A repeated call is not made again: it gets the first one's outcome. */
  readonly key: string;
  /** Aborted when the process no longer waits. */
  readonly signal: AbortSignal;
  /** Receives the progress of an agent's tool. */
  readonly progress?: ProgressSink;
  /** Receives, before the result, what an agent's tool may have put into it of texts that nobody vouches for. */
  readonly hear?: (foreign: Foreign) => void;
  /** Receives, before the result, each file that a tool of the kernel shows. */
  readonly show?: (file: ShownFile) => void;
}

interface MindToolPorts {
  readonly workspace: { readonly roots: readonly { readonly name: string }[] };
  /** Returns an agent. Throws NotFound. */
  readonly agents: { get(agent: string): Pick<Supervisor, "callAs" | "definition"> };
  /** The tools that agents offer. */
  readonly tools: { list(): readonly (MindTool & { readonly agent: string })[] };
}

/**
 * The tools that processes of minds call: the kernel's and those of agents. Every call is a host call of the process's
 * agent, which policy decides.
 */
export class MindTools {
  readonly #ports: MindToolPorts;
  readonly #log: Log;
  readonly #files: FileTools;

  constructor(ports: MindToolPorts, clock: Clock, log: Log) {
    this.#ports = ports;
    this.#log = log;
    this.#files = new FileTools({
      clock,
      sum: contentSum,
      check: checkArguments,
      accessOf: (principal, signal) => this.#accessOf(principal, signal),
      ownTextsOf: ({ agent }) => {
        const { mind, authority } = ports.agents.get(agent).definition;
        return { sources: mind?.sources ?? [], state: authority.forbiddenPaths };
      },
    });
  }

  /**
   * Returns the tools that match one of the patterns and one of `within`, sorted by name. A pattern is a tool's name, or
   * what stands before its last slash and `/*`.
   */
  toolsFor(patterns: readonly string[], within: readonly string[] = patterns): MindTool[] {
    const ofAgents = this.#ports.tools.list().map(({ agent, name, description, parameters }) => ({
      name: `${agent}/${name}`,
      description,
      parameters,
    }));
    return [...this.#files.list(), ...ofAgents]
      .filter(({ name }) => matches(patterns, name) && matches(within, name))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }

  /**
   * Calls a tool for a process. Refusals and failures are results of the status `error`; rejects only with the signal's
   * reason, once the signal is aborted. A change that has begun is finished and answered.
   */
  async call(
    name: string,
    args: unknown,
    principal: ProcessPrincipal,
    options: MindToolOptions,
  ): Promise<ToolResult> {
    const { offered, signal } = options;
    try {
      signal.throwIfAborted();
      if (!offered.includes(name)) throw notOffered(name, offered);
      return await this.#call(name, args, principal, { ...options, key: keyOf(principal, options.key) });
    } catch (error) {
      signal.throwIfAborted();
      if (isLaresError(error)) return toolFailure(error);
      this.#log.error(`The tool ${name} failed: ${messageOf(error)}`);
      return {
        status: "error",
        message: `${name} failed because of an error in the kernel.`,
        recoverable: false,
      };
    }
  }

  /** Returns a file that is a picture, as far as the process may read it; null for any other. */
  picture(path: string, principal: ProcessPrincipal): ReturnType<FileTools["picture"]> {
    return this.#files.picture(path, principal);
  }

  async #call(
    name: string,
    args: unknown,
    principal: ProcessPrincipal,
    { key, signal, progress, hear, show = () => undefined }: MindToolOptions,
  ): Promise<ToolResult> {
    if (name.startsWith("files/"))
      return await this.#files.call(name, args, principal, { key, signal, show });
    const slash = name.indexOf("/");
    const call = {
      agent: name.slice(0, slash),
      name: name.slice(slash + 1),
      // The wire's schema requires it, and a model may leave it out.
      arguments: (args ?? {}) as GuestCallParams<"tools/call">["arguments"],
      key,
    };
    return await this.#ask(principal, "tools/call", call, signal, { progress, hear });
  }

  #accessOf(principal: ProcessPrincipal, signal: AbortSignal): FileAccess {
    const ask = <Method extends GuestCall>(method: Method, params: GuestCallParams<Method>) =>
      this.#ask(principal, method, params, signal);
    const { roots } = this.#ports.workspace;
    return {
      roots: roots.length > 1 ? roots.map(({ name }) => name) : [],
      get: async (path) => await ask("vdfs/get", { path }),
      query: async (query) => await ask("vdfs/query", query),
      count: async (query) => (await ask("vdfs/count", query)).count,
      read: async (path, offset, length) => {
        const { base64, eof } = await ask("vdfs/read", { path, offset, length });
        return { bytes: Buffer.from(base64, "base64"), eof };
      },
      propose: async (proposal) => await ask("actions/propose", proposal),
      settled: async (id) => await ask("actions/settled", { id }),
    };
  }

  async #ask<Method extends GuestCall>(
    principal: ProcessPrincipal,
    method: Method,
    params: GuestCallParams<Method>,
    signal: AbortSignal,
    {
      progress,
      hear,
    }: {
      readonly progress?: ProgressSink | undefined;
      readonly hear?: MindToolOptions["hear"] | undefined;
    } = {},
  ): Promise<GuestCallResult<Method>> {
    const options = {
      signal,
      ...(progress === undefined ? {} : { progress }),
      ...(hear === undefined ? {} : { hear }),
    };
    const answer = await this.#ports.agents.get(principal.agent).callAs(principal, method, params, options);
    // The services are typed by method, and the door between passes on what they return.
    return answer as GuestCallResult<Method>;
  }
}

/** Returns a sum whose hashes are like those of the index. */
function contentSum(): ContentSum {
  const sum = sha256Sum();
  return {
    add: (bytes) => void sum.update(bytes),
    hash: () => `sha256:${Buffer.from(sum.digest()).toString("hex")}`,
  };
}

/** These schemas are the kernel's own, so that checking takes no longer than the wire's checks do. */
function checkArguments({ name, parameters }: FileTool, args: unknown): void {
  const fault = validate(parameters, args, "arguments");
  if (fault === null) return;
  throw new LaresError("ToolError", `${name}: ${fault.message}`, { errors: [{ ...fault }] });
}

function matches(patterns: readonly string[], name: string): boolean {
  const all = `${name.slice(0, name.lastIndexOf("/"))}/*`;
  return patterns.some((pattern) => pattern === name || pattern === all);
}

function notOffered(name: string, offered: readonly string[]): LaresError {
  const best = closest(name, offered);
  if (best === undefined) return notFound("tool", name);
  return new LaresError("NotFound", `There is no tool ${JSON.stringify(name)}; did you mean "${best}"?`, {
    what: "tool",
    name,
  });
}

/**
 * Returns the key under which the kernel keeps the call. All processes of a mind share one account, that of their
 * agent, and models number their calls alike in every conversation.
 */
export function keyOf({ conversation }: Pick<ProcessPrincipal, "conversation">, call: string): string {
  return `mind:${sha256(canonicalJson([conversation.toWellFormed(), call.toWellFormed()]))}`;
}
