import type { Caller, HostServices, JobRequest } from "../agents/ports.ts";
import { locationOf } from "../agents/router.ts";
import type { Actions } from "../actions/api.ts";
import { invalidParams, isLaresError, limitExceeded, notFound } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import { isJsonObject, type JsonValue } from "../base/json.ts";
import { OneAtATime } from "../base/one-at-a-time.ts";
import type { Action, EffectInput, Proposal } from "../base/vocabulary/action.ts";
import type { Entry, EntryQuery } from "../base/vocabulary/entry.ts";
import type { TraceLevel } from "../base/vocabulary/trace.ts";
import type { SharedData } from "../memory/shared-data.ts";
import { canonicalPath } from "../policy/paths.ts";
import { isVisible } from "../policy/scope.ts";
import type { TraceLog } from "../trace/trace-log.ts";
import type { Visibility, Workspace } from "../workspace/ports.ts";
import { hostMemory, type HostMemoryPorts } from "./host-memory.ts";

/** What an agent wants a person to know; with the action it proposes along with it. */
export interface AgentNotification {
  readonly agent: string;
  readonly title: string;
  readonly message: string;
  readonly severity: "info" | "warning" | "error";
  readonly action?: Action;
}

/** Characters of JSON in one custom event. */
export const maxEventCharacters = 64 * 1024;

type CalledTool =
  | { readonly status: "success" | "error" }
  | { readonly status: "needs_approval"; readonly action: Action; readonly reason: string };

export interface HostServicePorts {
  readonly workspace: Workspace;
  readonly actions: Actions;
  readonly memories: HostMemoryPorts;
  readonly sharedData: SharedData;
  readonly traces: TraceLog;
  /** Calls another agent's tool on behalf of `caller`. */
  callTool(agent: string, name: string, args: unknown, caller: string): Promise<CalledTool>;
  /** The least level an agent's own traces are kept from. */
  traceLevelOf(agent: string): TraceLevel;
  /** Throws ScopeViolation where the path is a link or lies behind one. */
  refuseLink(path: string): Promise<void>;
  readonly jobs: {
    dispatch(agent: string, request: JobRequest): Promise<string>;
    /** `job`: the one that the agent's guest was running when it asked. */
    progress(agent: string, job: string | undefined, fraction: number, message?: string): void;
    checkpoint(agent: string, job: string | undefined, data: JsonValue): Promise<void>;
  };
  emit(name: string, data: Readonly<Record<string, JsonValue | undefined>>): Promise<void>;
  notify(notification: AgentNotification): void;
  /** An action was proposed. */
  proposed(): void;
}

/**
 * The guest ABI's methods, each handed to the room that answers it. By the time a call is here its shape has
 * been checked and policy has allowed it; what is left is to see only what the caller may see.
 */
export function createHostServices(ports: HostServicePorts): HostServices {
  const { workspace, actions, sharedData, traces } = ports;
  const ownAction = async (caller: Caller, id: string): Promise<Action> => {
    const action = await actions.get(id);
    // Another agent's action does not exist for this one.
    if (action === null || action.agent !== caller.agent) throw notFound("action", id);
    return actionSeenBy(caller, action);
  };
  const propose = async (caller: Caller, proposal: Proposal): Promise<Action> => {
    const action = await actions.propose(caller.authority, caller.programDigest, proposal, caller.cpu);
    ports.proposed();
    return actionSeenBy(caller, action);
  };
  // Searches share the loop in slices: an agent that asks for sixty-four gets one agent's share.
  const searches = new OneAtATime();

  return {
    "vdfs/query": async (caller, query: EntryQuery) => {
      const page = await searches.run(caller.agent, () => workspace.query(query, sightOf(caller)));
      return { ...page, items: page.items.map((entry) => seenBy(caller, entry)) };
    },
    "vdfs/count": async (caller, query: EntryQuery) => ({
      count: await searches.run(caller.agent, () => workspace.count(query, sightOf(caller))),
    }),
    "vdfs/get": async (caller, reference: { path: string } | { id: string }) => {
      const wanted = "path" in reference ? { path: canonical(reference.path) } : reference;
      const entry = workspace.get(wanted, sightOf(caller));
      return entry === null ? null : seenBy(caller, entry);
    },
    "vdfs/read": async (_caller, { path, offset = 0, length = 262_144 }: ReadParams) => {
      const wanted = canonical(path);
      const { bytes, eof } = await workspace.read(wanted, offset, length).catch(async (error: unknown) => {
        // A link is no entry, so the index knows nothing of it; who asks is told why.
        if (isLaresError(error, "NotFound")) await ports.refuseLink(wanted);
        throw error;
      });
      return {
        base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64"),
        eof,
      };
    },
    "vdfs/sidecar/read": (_caller, { path, sidecar }: { path: string; sidecar: string }) =>
      workspace.readSidecar(canonical(path), sidecar),
    "vdfs/copies": async (caller, { content_id }: { content_id: string }) =>
      workspace.copies(content_id, sightOf(caller)),

    ...hostMemory(ports.memories),

    "actions/preview": async (caller, proposal: Proposal) =>
      actionSeenBy(
        caller,
        await actions.preview(caller.authority, caller.programDigest, proposal, caller.cpu),
      ),
    "actions/propose": propose,
    "actions/get": (caller, { id }: { id: string }) => ownAction(caller, id),
    "actions/settled": async (caller, { id }: { id: string }) => {
      await ownAction(caller, id);
      return actionSeenBy(caller, await actions.settled(id));
    },

    "jobs/dispatch": async ({ agent }, { when_idle, priority = "normal", ...request }: DispatchParams) => ({
      id: await ports.jobs.dispatch(agent, { ...request, priority, whenIdle: when_idle === true }),
    }),
    "jobs/progress": async (
      { agent, job },
      { fraction, message }: { fraction: number; message?: string },
    ) => {
      ports.jobs.progress(agent, job, fraction, message);
      return {};
    },
    "jobs/checkpoint": async ({ agent, job }, { data }: { data: JsonValue }) => {
      await ports.jobs.checkpoint(agent, job, data);
      return {};
    },
    "tools/call": async (caller, call: { agent: string; name: string; arguments?: unknown }) =>
      toolResultSeenBy(caller, await ports.callTool(call.agent, call.name, call.arguments, caller.agent)),
    "events/emit": async (caller, { name, data }: { name: string; data: JsonValue }) => {
      if (data !== null && !isJsonObject(data))
        throw invalidParams(
          `The data of the event ${name} has to be an object: what is in it becomes the event's fields, as in { person: "Ada" }.`,
        );
      const fields = data ?? {};
      const size = JSON.stringify(fields).length;
      if (size > maxEventCharacters) {
        throw limitExceeded(
          "event_data",
          size,
          `The event ${name} has ${size} characters of data; at most ${maxEventCharacters} are sent. Put what is larger into a file or a memory.`,
        );
      }
      await ports.emit(`${caller.agent}/${name}`, fields);
      return {};
    },

    "shared/read": (_caller, { key }: { key: string }) => sharedData.read(key),
    "shared/write": async (_caller, { key, value, version }: SharedWriteParams) => ({
      version: await sharedData.write(key, value, version),
    }),

    trace: async (caller, { level, message, fields }: TraceParams) => {
      if (levels.indexOf(level) < levels.indexOf(ports.traceLevelOf(caller.agent))) return;
      traces.write({
        level,
        agent: caller.agent,
        message,
        trace_id: caller.traceId ?? newId(),
        span_id: newId(),
        ...(caller.hook === undefined ? {} : { hook: caller.hook }),
        ...(fields === undefined ? {} : { fields }),
      });
    },
    notify: async (caller, { title, message, severity, action: effects }: NotifyParams) => {
      const action =
        effects === undefined ? undefined : await propose(caller, { effects, title, reason: message });
      ports.notify({
        agent: caller.agent,
        title,
        message,
        severity,
        ...(action === undefined ? {} : { action }),
      });
    },
  };
}

const levels: readonly TraceLevel[] = ["debug", "info", "warn", "error"];

interface ReadParams {
  path: string;
  offset?: number;
  length?: number;
}

interface DispatchParams {
  name: string;
  input: JsonValue;
  priority?: JobRequest["priority"];
  when_idle?: boolean;
  key?: string;
}

interface SharedWriteParams {
  key: string;
  value: JsonValue;
  version?: number;
}

interface TraceParams {
  level: TraceLevel;
  message: string;
  fields?: Record<string, unknown>;
}

interface NotifyParams {
  title: string;
  message: string;
  severity: "info" | "warning" | "error";
  action?: EffectInput[];
}

/** Policy has refused every path that has no canonical form. */
function canonical(path: string): string {
  const result = canonicalPath(path);
  return result.ok ? result.path : path;
}

/**
 * An action as its agent is told of it. What a change would replace is shown to a person; an agent that may not
 * read the file does not get to read it by proposing to change it.
 */
function actionSeenBy({ authority }: Caller, action: Action): Action {
  const mayRead = (path: string): boolean => isVisible(authority, path, "file");
  return {
    ...action,
    effects: action.effects.map((effect) => {
      if (mayRead(effect.path) && (effect.from === undefined || mayRead(effect.from))) return effect;
      const { diff: _diff, ...rest } = effect;
      return { ...rest, before: null, ...(effect.kind === "file.move" ? { after: null } : {}) };
    }),
  };
}

function toolResultSeenBy(caller: Caller, result: CalledTool): CalledTool {
  return result.status === "needs_approval"
    ? { ...result, action: actionSeenBy(caller, result.action) }
    : result;
}

function sightOf({ authority }: Caller): Visibility {
  return (path, kind) => isVisible(authority, path, kind);
}

function seenBy({ authority }: Caller, entry: Entry): Entry {
  return { ...entry, location: locationOf(authority, entry.path) };
}
