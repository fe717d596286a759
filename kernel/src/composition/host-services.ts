import type { Caller, HostServices, JobRequest } from "../agents/ports.ts";
import type { Actions, ProposedAction } from "../actions/api.ts";
import { actionToldTo, inOneAnswer } from "../actions/unseen.ts";
import { invalidParams, isLaresError, limitExceeded, notFound } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import { isJsonObject, type JsonValue } from "../base/json.ts";
import { OneAtATime } from "../base/one-at-a-time.ts";
import type { Action, EffectInput, Proposal, ProposalRequest } from "../base/vocabulary/action.ts";
import type { EntryQuery } from "../base/vocabulary/entry.ts";
import type { TraceLevel } from "../base/vocabulary/trace.ts";
import type { SharedData } from "../memory/shared-data.ts";
import { entrySeenBy } from "../policy/hearing.ts";
import { canonicalPath } from "../policy/paths.ts";
import { createSight, type Sight } from "../policy/sight.ts";
import type { TraceLog } from "../trace/trace-log.ts";
import type { Workspace } from "../workspace/ports.ts";
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
  const sightOf = ({ authority }: Caller): Sight => createSight(authority, workspace.view);
  const toldTo = (caller: Caller, { action, told }: ProposedAction): Action =>
    inOneAnswer(actionToldTo(sightOf(caller), action, told));
  const ownAction = async (caller: Caller, id: string): Promise<Action> => {
    const found = await actions.proposed(id);
    // Another agent's action does not exist for this one.
    if (found === null || found.action.agent !== caller.agent) throw notFound("action", id);
    return toldTo(caller, found);
  };
  const propose = async (caller: Caller, proposal: ProposalRequest): Promise<ProposedAction> => {
    const proposed = await actions.propose(caller.authority, caller.programDigest, proposal, caller.cpu);
    ports.proposed();
    return proposed;
  };
  // Searches share the loop in slices: an agent that asks for sixty-four gets one agent's share.
  const searches = new OneAtATime();

  return {
    "vdfs/query": async (caller, query: EntryQuery) => {
      const page = await searches.run(caller.agent, () => workspace.query(query, sightOf(caller).seesEntry));
      return { ...page, items: page.items.map((entry) => entrySeenBy(caller.authority, entry)) };
    },
    "vdfs/count": async (caller, query: EntryQuery) => ({
      count: await searches.run(caller.agent, () => workspace.count(query, sightOf(caller).seesEntry)),
    }),
    "vdfs/get": async (caller, reference: { path: string } | { id: string }) => {
      const wanted = "path" in reference ? { path: canonical(reference.path) } : reference;
      const entry = workspace.get(wanted, sightOf(caller).seesEntry);
      return entry === null ? null : entrySeenBy(caller.authority, entry);
    },
    "vdfs/read": async (caller, { path, offset = 0, length = 262_144 }: ReadParams) => {
      const wanted = canonical(path);
      const sight = sightOf(caller);
      const reading = workspace.read(wanted, offset, length, sight.seesEntry);
      const { bytes, eof } = await reading.catch(async (error: unknown) => {
        // A link is no entry. An agent that could see a file of this name is told why there is none.
        if (isLaresError(error, "NotFound") && sight.sees(wanted)) await ports.refuseLink(wanted);
        throw error;
      });
      return {
        base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64"),
        eof,
      };
    },
    "vdfs/sidecar/read": async (caller, { path, sidecar }: { path: string; sidecar: string }) => {
      const entry = workspace.get({ path: canonical(path) }, sightOf(caller).seesEntry);
      return entry === null ? null : workspace.readSidecar(entry.path, sidecar);
    },
    "vdfs/copies": async (caller, { content_id }: { content_id: string }) =>
      workspace.copies(content_id, sightOf(caller).seesEntry),

    ...hostMemory(ports.memories),

    "actions/preview": async (caller, proposal: Proposal) =>
      toldTo(caller, await actions.preview(caller.authority, caller.programDigest, proposal, caller.cpu)),
    "actions/propose": async (caller, proposal: ProposalRequest) =>
      toldTo(caller, await propose(caller, proposal)),
    "actions/get": (caller, { id }: { id: string }) => ownAction(caller, id),
    "actions/settled": async (caller, { id }: { id: string }) => {
      await ownAction(caller, id);
      await actions.settled(id);
      return ownAction(caller, id);
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
    "tools/call": async (caller, call: { agent: string; name: string; arguments?: unknown }) => {
      const result = await ports.callTool(call.agent, call.name, call.arguments, caller.agent);
      if (result.status !== "needs_approval") return result;
      const proposed = await actions.proposed(result.action.id);
      if (proposed === null) throw notFound("action", result.action.id);
      return { ...result, action: toldTo(caller, proposed) };
    },
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
        effects === undefined
          ? undefined
          : (await propose(caller, { effects, title, reason: message })).action;
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
