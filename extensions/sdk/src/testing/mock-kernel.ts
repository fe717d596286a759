import type { Authority } from "../../../../kernel/src/base/vocabulary/permissions.ts";
import { decideHostCall, isVisible } from "../../../../kernel/src/policy/decide.ts";
import type { Kernel } from "../context/kernel.ts";
import { LaresError } from "../errors.ts";
import type { Action, EffectInput, Reasons } from "../types/action.ts";
import type { HistoryItem } from "../types/memory.ts";
import type { MockWorkspace } from "./mock-workspace.ts";

/** What a handler did, in order. */
export interface Recorded {
  /** Every call of the ABI, refused ones too. */
  readonly calls: { method: string; params: Readonly<Record<string, unknown>> }[];
  readonly actions: Action[];
  readonly traces: { level: string; message: string; fields?: Readonly<Record<string, unknown>> }[];
  readonly notifications: Readonly<Record<string, unknown>>[];
  readonly jobs: Readonly<Record<string, unknown>>[];
  readonly events: Readonly<Record<string, unknown>>[];
  readonly history: HistoryItem[];
}

export interface MockKernelOptions {
  readonly authority: Authority;
  readonly workspace: MockWorkspace;
  readonly now: () => number;
  readonly plan: unknown;
  /** Other agents' tools, by "agent.id/tool". */
  readonly tools: Readonly<Record<string, (args: unknown) => unknown>>;
}

type Params = Readonly<Record<string, unknown>>;
const noHash = `sha256:${"0".repeat(64)}` as const;

/**
 * The kernel's end of the ABI in memory: the kernel's own policy decides, and small stand-ins answer. Tags,
 * fields and sidecars are changed at once; effects on files stay `PendingApproval`, as without any rule.
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
  const working = { revision: 0, state: options.plan ?? null };
  const shared = new Map<unknown, { version: number; value: unknown }>();
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
    "vdfs/sidecar/read": ({ path, sidecar }) => workspace.sidecar(String(path), String(sidecar)),
    "vdfs/copies": ({ content_id }) => {
      const paths = workspace
        .all({}, visible)
        .filter((entry) => entry.content_id === content_id)
        .map(({ path }) => path);
      return { count: paths.length, paths };
    },
    "memory/working/read": () => structuredClone(working),
    "memory/working/swap": ({ revision, state }) => {
      if (revision !== working.revision)
        throw new LaresError("Conflict", "Somebody else wrote first.", { revision: working.revision });
      working.state = state ?? null;
      return { revision: ++working.revision };
    },
    "memory/temporal/append": ({ variant, data, timestamp }) => {
      const id = `item-${recorded.history.length + 1}`;
      recorded.history.push({
        id,
        variant: String(variant),
        timestamp: typeof timestamp === "string" ? timestamp : iso(),
        data,
      });
      return { id };
    },
    "memory/sync": () => ({}),
    "actions/preview": preview,
    "actions/propose": (params) => {
      const action = preview(params);
      recorded.actions.push(action);
      for (const effect of params["effects"] as EffectInput[]) apply(workspace, effect);
      return action;
    },
    "actions/get": ({ id }) => found(id),
    "actions/settled": ({ id }) => found(id),
    "jobs/dispatch": (params) => ({ id: `job-${recorded.jobs.push(params)}` }),
    "jobs/progress": () => ({}),
    "jobs/checkpoint": () => ({}),
    "events/emit": (params) => void recorded.events.push(params),
    "tools/call": async ({ agent, name, arguments: args }) => {
      const tool = options.tools[`${String(agent)}/${String(name)}`];
      if (tool === undefined)
        throw new LaresError("NotFound", `There is no tool "${String(agent)}/${String(name)}".`);
      return { status: "success", value: await tool(args) };
    },
    "shared/read": ({ key }) => shared.get(key) ?? null,
    "shared/write": ({ key, value, version }) => {
      const current = shared.get(key)?.version ?? 0;
      if (version !== undefined && version !== current)
        throw new LaresError("Conflict", `"${String(key)}" was written by others.`, { revision: current });
      shared.set(key, { version: current + 1, value });
    },
    notify: (params) => void recorded.notifications.push(params),
  };

  return {
    recorded,
    async call<Result>(method: string, given: Params): Promise<Result> {
      // As over the pipe: what is no JSON does not arrive, and nobody shares an object.
      const params = JSON.parse(JSON.stringify(given)) as Params;
      recorded.calls.push({ method, params });
      const decision = decideHostCall(authority, { method, params });
      if (!decision.allowed)
        throw new LaresError(decision.error.code, decision.error.message, decision.error.facts);
      const service = services[method];
      if (service === undefined)
        throw new LaresError(
          "MethodNotFound",
          `A mocked context does not know "${method}"; use runInKernel.`,
        );
      const result = await service(params);
      return (result === undefined ? {} : structuredClone(result)) as Result;
    },
    notify: (_method, params) => void recorded.traces.push(params as unknown as Recorded["traces"][number]),
  };
}

function apply(workspace: MockWorkspace, effect: EffectInput): void {
  if (effect.kind === "tag.add") workspace.tag(effect.path, (tags) => [...new Set([...tags, effect.tag])]);
  if (effect.kind === "tag.remove")
    workspace.tag(effect.path, (tags) => tags.filter((tag) => tag !== effect.tag));
  if (effect.kind === "field.set")
    workspace.setField(effect.path, effect.namespace, effect.key, effect.value);
  if (effect.kind === "sidecar.write") workspace.writeSidecar(effect.path, effect.sidecar, effect.data);
}
