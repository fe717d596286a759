import type { GuestAnswers } from "../../../../kernel/src/protocol/guest/v1/calls.ts";
import type { AgentDefinition } from "../agent.ts";
import { forJob, forTool, type Identity, isNeedsApproval, makeContext } from "../context/context.ts";
import { onBehalf } from "../context/kernel.ts";
import { isLaresError, type ErrorCode } from "../errors.ts";
import type { AgentContext } from "../types/context.ts";
import type { HookEvent } from "../types/event.ts";
import type { InterceptAnswer } from "../types/intercept.ts";
import { findHost, type GuestHost, kernelOf } from "./host.ts";

/** Errors after which a retry of the same call may succeed. */
const passing = new Set<ErrorCode>(["Busy", "Conflict", "Stale"]);

/** Hooks that are accepted before the first is answered; they wait here instead of in the kernel. */
const maxOpenHooks = 64;

/** A command is called as a tool with this before its name, which no tool can have. */
const commandPrefix = "command:";

/** How long `shutdown` waits for the answer of the hook that is under way: half of what the kernel waits for it. */
const lastHookMs = 1_000;

/** Connects a program's default export with the kernel. The bundler adds the call; authors need not. */
export function serveAgent(program: { readonly default?: unknown }): void {
  const definition = program.default;
  if (typeof definition !== "object" || definition === null) {
    throw new TypeError(
      "The program has no agent as its default export: write `export default defineAgent({ … })`.",
    );
  }
  const host = findHost();
  host.serve(answersOf(definition, host));
}

function answersOf(definition: AgentDefinition, host: GuestHost): GuestAnswers {
  const kernel = kernelOf(host);
  const ending = new AbortController();
  /** Unanswered jobs and tool calls by id. */
  const running = new Map<string, AbortController>();
  const begin = (id: string): AbortController => {
    const leaving = new AbortController();
    running.set(id, leaving);
    if (ending.signal.aborted) leaving.abort(ending.signal.reason);
    return leaving;
  };
  let identity: Identity | undefined;
  let context: AgentContext | undefined;
  /** Resolves when the last accepted hook is done. */
  let hooksDone: Promise<void> | undefined;
  /** Resolves when the hook that is under way is done. */
  let hookUnderWay: Promise<void> | undefined;
  const ready = (): AgentContext => {
    if (context === undefined) throw new Error("The agent received a request before it was initialized.");
    return context;
  };
  /** Returns the context for answering this call, whatever else is in progress. */
  const contextFor = (callId: string, signal = ending.signal): AgentContext => {
    if (identity === undefined) return ready();
    return makeContext(onBehalf(kernel, callId), identity, definition, signal);
  };
  /** Answers a question beside whatever else is open: what it is about waits. */
  const answerTo = async (callId: string, handler: string, event: HookEvent): Promise<unknown> => {
    const { signal } = begin(callId);
    try {
      const run = named(definition.hooks, handler, "hook");
      const answer = await Promise.race([run(event, contextFor(callId, signal)), aborted(signal)]);
      return interceptAnswer(answer);
    } finally {
      running.delete(callId);
    }
  };
  return {
    initialize({ extension, config, permissions, locations, models }) {
      identity = { extension, config: (config ?? {}) as Identity["config"], permissions, locations, models };
      // Always null: the kernel may have sent a call that this program has not read yet.
      context = makeContext(onBehalf(kernel, null), identity, definition, ending.signal);
      const { hooks, tools, commands, jobs, tasks, types, actions } = definition;
      const migrations = Object.keys(types ?? {}).filter((name) => types?.[name]?.migrate !== undefined);
      return {
        handlers: namesOf(hooks),
        tools: [...namesOf(tools), ...namesOf(commands).map((name) => `${commandPrefix}${name}`)],
        jobs: namesOf(jobs),
        ...(namesOf(actions).length === 0 ? {} : { actions: namesOf(actions) }),
        ...(migrations.length === 0 ? {} : { migrations }),
        ...(tasks === undefined ? {} : { tasks: namesOf(tasks) }),
        max_open_hooks: maxOpenHooks,
        cancels_tools: true,
      };
    },
    async migrate({ type, from, values }) {
      const { types } = definition;
      const owner = types !== undefined && Object.hasOwn(types, type) ? types[type] : undefined;
      if (owner?.migrate === undefined) throw new Error(`The agent migrates no type "${type}".`);
      const changed: unknown[] = [];
      for (const value of values) changed.push((await owner.migrate(value, from)) ?? null);
      return { values: changed };
    },
    async startup() {
      await definition.onStartup?.(ready());
      return {};
    },
    /** One at a time and in order, whatever the handlers wait for. */
    async hook({ handler, event, call_id: callId }) {
      if (callId !== undefined) return await answerTo(callId, handler, event as HookEvent);
      const before = hooksDone;
      let done = (): void => {};
      const own = new Promise<void>((resolve) => (done = resolve));
      hooksDone = own;
      await before;
      // A hook that has not begun when the agent shuts down is never answered, so it is delivered again.
      if (ending.signal.aborted) return await never();
      hookUnderWay = own;
      try {
        await named(definition.hooks, handler, "hook")(event as HookEvent, ready());
        return {};
      } catch (error) {
        if (!ending.signal.aborted) throw error;
      } finally {
        done();
      }
      // It failed while the agent shuts down, perhaps because of that: the event is delivered again.
      return await never();
    },
    async tool(params) {
      const tool = params.name.startsWith(commandPrefix)
        ? named(definition.commands, params.name.slice(commandPrefix.length), "command")
        : named(definition.tools, params.name, "tool");
      const { call_id: callId, caller } = params;
      const { signal } = begin(callId);
      try {
        const context = forTool(contextFor(callId), kernel, { callId, caller, signal });
        const value = await tool(params.arguments, context);
        return isNeedsApproval(value) ? value : { status: "success", value: value ?? null };
      } catch (error) {
        host.report(`The tool ${params.name} failed`, error);
        return { status: "error", message: messageOf(error), recoverable: isRecoverable(error) };
      } finally {
        running.delete(callId);
      }
    },
    async action({ name, parameters, call_id: callId, caller }) {
      const { signal } = begin(callId);
      try {
        const context = forTool(contextFor(callId), kernel, { callId, caller, signal });
        return (await named(definition.actions, name, "action")(parameters, context)) as never;
      } catch (error) {
        host.report(`The action ${name} failed`, error);
        throw error;
      } finally {
        running.delete(callId);
      }
    },
    async job({ id, name, input, checkpoint }) {
      const { signal } = begin(id);
      try {
        const context = forJob(contextFor(id), kernel, { id, checkpoint, signal });
        return (await named(definition.jobs, name, "job")(input, context)) ?? {};
      } finally {
        running.delete(id);
      }
    },
    async task({ name, input, job }) {
      const signal = running.get(job)?.signal ?? ending.signal;
      const context = { ...contextFor(job, signal), signal, jobId: job };
      return (await named(definition.tasks, name, "task")(input, context)) ?? null;
    },
    cancelJob({ id }) {
      running.get(id)?.abort(new Error("The job was cancelled."));
      return {};
    },
    cancelTool({ call_id: callId }) {
      running.get(callId)?.abort(new Error("The call was cancelled."));
      return {};
    },
    async permissionChange({ permissions, locations, models }) {
      const now = ready();
      if (identity !== undefined) Object.assign(identity, { permissions, locations, models });
      await definition.onPermissionChange?.(now);
      return {};
    },
    async shutdown() {
      ending.abort(new Error("The agent is shutting down."));
      for (const leaving of running.values()) leaving.abort(ending.signal.reason);
      // The guest exits once this is answered. An event whose handler has not answered by then is delivered again.
      if (hookUnderWay !== undefined)
        await Promise.race([hookUnderWay, new Promise((resolve) => setTimeout(resolve, lastHookMs))]);
      if (context !== undefined) await definition.onShutdown?.(context);
      return {};
    },
  };
}

const never = (): Promise<never> => new Promise(() => {});

type Handlers<Handler> = Readonly<Record<string, Handler>> | undefined;

function namesOf(handlers: Handlers<unknown>): string[] {
  return Object.keys(handlers ?? {}).filter((name) => typeof handlers?.[name] === "function");
}

/** Binds the handler to its group, so that `this` is what the author expects. */
function named<Args extends unknown[]>(
  handlers: Handlers<(...args: Args) => unknown>,
  name: string,
  kind: string,
): (...args: Args) => unknown {
  if (handlers === undefined || !Object.hasOwn(handlers, name) || typeof handlers[name] !== "function") {
    throw new Error(`The agent has no ${kind} "${name}".`);
  }
  return (...args) => handlers[name]?.(...args);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}

function isRecoverable(error: unknown): boolean {
  if (isLaresError(error)) return passing.has(error.code) || error.facts["recoverable"] === true;
  return typeof error === "object" && error !== null && "recoverable" in error && error.recoverable === true;
}

/** Returns what a handler of a hook with `intercept: true` returned, as the kernel reads it. */
function interceptAnswer(answer: unknown): unknown {
  if (typeof answer !== "object" || answer === null) return answer ?? {};
  const { customInstructions, ...rest } = answer as InterceptAnswer<"BeforeCompact">;
  return {
    ...rest,
    ...(customInstructions === undefined ? {} : { custom_instructions: customInstructions }),
  };
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const leave = (): void => reject(signal.reason as Error);
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
  });
}
