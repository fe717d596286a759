import type { Authority } from "../../../../kernel/src/base/vocabulary/permissions.ts";
import { isLaresError as isKernelError } from "../../../../kernel/src/base/errors.ts";
import { decideHostCall, isVisible } from "../../../../kernel/src/policy/decide.ts";
import type { GuestCall, GuestCallResult } from "../../../../kernel/src/protocol/guest/v1/calls.ts";
import { memoryCalls } from "../../../../kernel/src/protocol/guest/v1/memory.ts";
import { typeCalls } from "../../../../kernel/src/protocol/guest/v1/types.ts";
import { checkParams } from "../../../../kernel/src/protocol/validate.ts";
import type { TSchema } from "typebox";
import { base64Of } from "../context/bytes.ts";
import { type CallParams, cancelled, type Kernel } from "../context/kernel.ts";
import { LaresError } from "../errors.ts";
import type { Action, EffectInput, ProposalOptions, Reasons } from "../types/action.ts";
import type { AgentHealth } from "../types/agents.ts";
import type { CallOptions } from "../types/call.ts";
import { MockMemory } from "./mock-memory.ts";
import type { MockTypes } from "./mock-types.ts";
import type { MockWorkspace } from "./mock-workspace.ts";
import type { Recorded } from "./recorded.ts";

interface MockKernelOptions {
  readonly authority: Authority;
  readonly workspace: MockWorkspace;
  readonly now: () => number;
  readonly plan: unknown;
  /** Other agents' tools, by "agent.id/tool". */
  readonly tools: Readonly<Record<string, (args: unknown) => unknown>>;
  readonly agents: readonly AgentHealth[];
  readonly types: MockTypes;
  /** Tasks of the job, by name. */
  readonly tasks: Readonly<Record<string, (input: unknown) => unknown>>;
  /** Models, hosts and secrets, by call. */
  readonly outside: Readonly<Record<string, (params: Params) => unknown>>;
}

type Params = Readonly<Record<string, unknown>>;
const noHash = `sha256:${"0".repeat(64)}` as const;

/**
 * The kernel's end of the ABI in memory: the kernel's own policy decides, and small substitutes answer. Tags,
 * fields and sidecars change at once; effects on files stay `PendingApproval`, as without any rule.
 */
export function makeMockKernel(options: MockKernelOptions): Kernel & { readonly recorded: Recorded } {
  const { authority, workspace, now } = options;
  const recorded: Recorded = {
    calls: [],
    actions: [],
    traces: [],
    notifications: [],
    jobs: [],
    events: [],
    history: [],
  };
  const visible: Parameters<MockWorkspace["query"]>[1] = (path, kind) => isVisible(authority, path, kind);
  const memories = new Map<unknown, MockMemory>([
    [undefined, new MockMemory({ now, plan: options.plan, history: recorded.history })],
  ]);
  /** Returns the agent's own memory, or a shared one by its name. */
  const memoryOf = (namespace: unknown): MockMemory => {
    const memory = memories.get(namespace) ?? new MockMemory({ now, plan: null, history: [] });
    memories.set(namespace, memory);
    return memory;
  };
  const shared = new Map<unknown, { version: number; value: unknown }>();
  const keyed = new Map<string, Promise<unknown>>();
  const iso = (): string => new Date(now()).toISOString();

  const preview = (params: Params): Action => {
    const { effects, title, reason } = params as unknown as Reasons & { effects: EffectInput[] };
    const files = effects.some(({ kind }) => kind.startsWith("file.") || kind.startsWith("folder."));
    return {
      id: `action-${recorded.actions.length + 1}`,
      agent: authority.extension,
      title,
      reason,
      state: files ? "PendingApproval" : "Committed",
      impact_score: 0,
      digest: noHash,
      effects: effects.map((effect) => ({
        ...effect,
        path: "path" in effect ? effect.path : effect.to,
        before: null,
        after: null,
        summary: effect.kind,
      })),
      created: iso(),
    };
  };
  const found = (id: unknown): Action => {
    const action = recorded.actions.find((candidate) => candidate.id === id);
    if (action === undefined) throw new LaresError("NotFound", `There is no action "${String(id)}".`);
    return action;
  };
  /** Returns the action that a proposal supersedes; refuses it as the kernel does. */
  const replaceable = (id: string): Action => {
    const action = found(id);
    if (action.superseded_by !== undefined)
      throw new LaresError(
        "IllegalTransition",
        `The action ${id} was already superseded by ${action.superseded_by}. Supersede that one.`,
      );
    if (!isReplaceable(action))
      throw new LaresError(
        "IllegalTransition",
        `The action ${id} is ${action.state}. Only a waiting or Stale action can be superseded.`,
      );
    return action;
  };
  const services: Record<string, (params: Params) => unknown> = {
    "vdfs/query": (query) => workspace.query(query, visible),
    "vdfs/count": (query) => ({ count: workspace.all(query, visible).length }),
    "vdfs/get": (ref) => {
      const entry = workspace.get(ref);
      return entry !== undefined && visible(entry.path, entry.kind) ? entry : null;
    },
    "vdfs/read": ({ path, offset, length }) => {
      const bytes = workspace.bytes(String(path));
      if (bytes === undefined) throw new LaresError("NotFound", `There is no file "${String(path)}".`);
      const end = Number(offset) + Number(length);
      const text = Array.from(bytes.subarray(Number(offset), end), (byte) => String.fromCharCode(byte)).join(
        "",
      );
      return { base64: btoa(text), eof: end >= bytes.length };
    },
    "vdfs/thumbnail": ({ path }) => {
      if (workspace.bytes(String(path)) === undefined)
        throw new LaresError("NotFound", `There is no file "${String(path)}".`);
      const thumbnail = workspace.thumbnail(String(path));
      if (thumbnail === undefined)
        throw new LaresError("InvalidParams", `${String(path)} is not a picture that can be decoded.`, {
          path: "path",
        });
      const { bytes, ...size } = thumbnail;
      return { ...size, base64: base64Of(bytes) };
    },
    "vdfs/sidecar/read": ({ path, sidecar }) => workspace.sidecar(String(path), String(sidecar)),
    "vdfs/copies": ({ content_id }) => {
      const paths = workspace
        .all({}, visible)
        .filter((entry) => entry.content_id === content_id)
        .map(({ path }) => path);
      return { count: paths.length, paths };
    },
    "agents/list": () => ({ agents: options.agents }),
    "actions/preview": preview,
    "actions/propose": (params) => {
      const { key, supersedes } = params as ProposalOptions;
      const known =
        key === undefined ? undefined : recorded.actions.find((candidate) => candidate.key === key);
      if (known !== undefined) return known;
      const action: Action = {
        ...preview(params),
        ...(supersedes === undefined ? {} : { supersedes }),
        ...(key === undefined ? {} : { key }),
      };
      const replaced = recorded.actions.filter(
        (older) =>
          isReplaceable(older) && older.superseded_by === undefined && targetsOf(older) === targetsOf(action),
      );
      if (supersedes !== undefined) replaced.push(replaceable(supersedes));
      for (const { id } of replaced) {
        const index = recorded.actions.findIndex((older) => older.id === id);
        recorded.actions[index] = { ...found(id), state: "Stale", superseded_by: action.id };
      }
      recorded.actions.push(action);
      for (const effect of params["effects"] as EffectInput[]) apply(workspace, effect);
      return action;
    },
    "actions/get": ({ id }) => found(id),
    "actions/settled": ({ id }) => found(id),
    "actions/withdraw": ({ id }) => {
      const action = found(id);
      if (action.state !== "PendingApproval")
        throw new LaresError("IllegalTransition", `The action ${action.id} does not wait any more.`);
      const withdrawn: Action = { ...action, state: "Rejected", decided_by: "policy" };
      recorded.actions[recorded.actions.indexOf(action)] = withdrawn;
      return withdrawn;
    },
    "jobs/dispatch": (params) => ({ id: `job-${recorded.jobs.push(params)}` }),
    "jobs/task": async ({ name, input }) => {
      const task = Object.hasOwn(options.tasks, String(name)) ? options.tasks[String(name)] : undefined;
      if (task === undefined) throw new LaresError("NotFound", `The program has no task "${String(name)}".`);
      return { result: (await task(input)) ?? null };
    },
    "jobs/progress": () => ({}),
    "jobs/checkpoint": () => ({}),
    "events/emit": (params) => void recorded.events.push(params),
    "tools/progress": () => ({}),
    "tools/call": async ({ agent, name, arguments: args, key, deadline_ms: deadlineMs }) => {
      const tool = options.tools[`${String(agent)}/${String(name)}`];
      if (tool === undefined)
        throw new LaresError("NotFound", `There is no tool "${String(agent)}/${String(name)}".`);
      const known = key === undefined ? undefined : keyed.get(key as string);
      const value = known ?? (async () => tool(args))();
      if (key !== undefined) keyed.set(key as string, value);
      return {
        status: "success",
        value: await withinDeadline(value, deadlineMs, `${String(agent)}/${String(name)}`),
      };
    },
    ...options.outside,
    "shared/read": ({ key }) => shared.get(key) ?? null,
    "shared/write": ({ key, value, version }) => {
      const current = shared.get(key)?.version ?? 0;
      if (version !== undefined && version !== current)
        throw new LaresError("Conflict", `"${String(key)}" was written by others.`, { revision: current });
      shared.set(key, { version: current + 1, value });
    },
    notify: (params) => void recorded.notifications.push(params),
  };

  /** Refuses params with another shape than the ABI's, as the kernel does. */
  const checked = (method: string, schema: TSchema, params: Params, answer: () => unknown): unknown => {
    try {
      checkParams(method, schema, params);
      return answer();
    } catch (error) {
      // The kernel's own class; an agent receives the SDK's.
      if (!isKernelError(error)) throw error;
      throw new LaresError(error.code, error.message, error.facts);
    }
  };
  const remember = (method: keyof typeof memoryCalls, params: Params): unknown =>
    checked(method, memoryCalls[method].params, params, () => {
      const { namespace, ...asked } = params;
      return memoryOf(namespace).calls[method]?.(asked as never);
    });
  const typed = (method: keyof typeof typeCalls, params: Params): unknown =>
    checked(method, typeCalls[method].params, params, () => {
      const name = method.slice("types/".length) as "create" | "get" | "query" | "update" | "remove";
      return options.types[name](params as never);
    });

  return {
    recorded,
    async call<Method extends GuestCall>(
      method: Method,
      given: CallParams<Method>,
      { signal }: CallOptions = {},
    ): Promise<GuestCallResult<Method>> {
      if (signal?.aborted === true) throw cancelled();
      // As over the pipe: only JSON arrives, and objects are not shared.
      const params = JSON.parse(JSON.stringify(given)) as Params;
      recorded.calls.push({ method, params });
      const decision = decideHostCall(authority, { method, params });
      if (!decision.allowed)
        throw new LaresError(decision.error.code, decision.error.message, decision.error.facts);
      const service = Object.hasOwn(memoryCalls, method)
        ? (asked: Params) => remember(method as keyof typeof memoryCalls, asked)
        : Object.hasOwn(typeCalls, method)
          ? (asked: Params) => typed(method as keyof typeof typeCalls, asked)
          : services[method];
      if (service === undefined)
        throw new LaresError(
          "MethodNotFound",
          `A mock context does not support "${method}". Use runInKernel.`,
        );
      const result = await unlessCancelled(service(params), signal);
      return (result === undefined ? {} : structuredClone(result)) as GuestCallResult<Method>;
    },
    notify: (_method, params) => void recorded.traces.push(params as unknown as Recorded["traces"][number]),
  };
}

/** As the kernel answers what is cancelled while it reads, waits or calls a tool. Only those get a signal. */
async function unlessCancelled(answer: unknown, signal: AbortSignal | undefined): Promise<unknown> {
  if (signal === undefined) return answer;
  const stopped = Promise.withResolvers<never>();
  const stop = (): void => stopped.reject(cancelled());
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([answer, stopped.promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Rejects once the time that a caller gave a tool has passed, as the kernel does. */
async function withinDeadline(answer: unknown, allowedMs: unknown, call: string): Promise<unknown> {
  if (typeof allowedMs !== "number") return answer;
  const over = Promise.withResolvers<never>();
  const facts = { deadline_ms: allowedMs, set_by: "", call };
  const timer = setTimeout(
    () =>
      over.reject(
        new LaresError("DeadlineExceeded", `The deadline of ${allowedMs} ms for ${call} has passed.`, facts),
      ),
    allowedMs,
  );
  try {
    return await Promise.race([answer, over.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function isReplaceable({ state }: Action): boolean {
  return state === "PendingApproval" || state === "Stale";
}

/** Names what an action changes; two actions with equal names change exactly the same things. */
function targetsOf({ effects }: Action): string {
  const targets = effects.flatMap(({ kind, path, from, tag, namespace, key, sidecar }) =>
    kind === "file.move"
      ? [[from], [path]]
      : kind.startsWith("file.") || kind.startsWith("folder.")
        ? [[path]]
        : [[path, tag, namespace, key, sidecar]],
  );
  return JSON.stringify([...new Set(targets.map((target) => JSON.stringify(target)))].toSorted());
}

function apply(workspace: MockWorkspace, effect: EffectInput): void {
  if (effect.kind === "tag.add") workspace.tag(effect.path, (tags) => [...new Set([...tags, effect.tag])]);
  if (effect.kind === "tag.remove")
    workspace.tag(effect.path, (tags) => tags.filter((tag) => tag !== effect.tag));
  if (effect.kind === "field.set")
    workspace.setField(effect.path, effect.namespace, effect.key, effect.value);
  if (effect.kind === "sidecar.write") workspace.writeSidecar(effect.path, effect.sidecar, effect.data);
}
