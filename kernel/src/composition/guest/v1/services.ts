import { maxReadBytes } from "../../../base/vocabulary/bounds.ts";
import type { Caller, JobRequest } from "../../../agents/ports.ts";
import type { Actions, ProposedAction } from "../../../actions/api.ts";
import { unlessAborted } from "../../../base/abort.ts";
import { invalidParams, isLaresError, limitExceeded, notFound } from "../../../base/errors.ts";
import { newId } from "../../../base/ids.ts";
import { isJsonObject, type JsonValue } from "../../../base/json.ts";
import { OneAtATime } from "../../../base/one-at-a-time.ts";
import type { Action, ProposalRequest } from "../../../base/vocabulary/action.ts";
import { onBehalfField, type Principal } from "../../../base/vocabulary/principal.ts";
import type { ToolProgress } from "../../../base/vocabulary/progress.ts";
import { traceLevels, type TraceLevel } from "../../../base/vocabulary/trace.ts";
import type { GuestServices } from "../../../protocol/guest/v1/calls.ts";
import type { ToolResult } from "../../../base/vocabulary/tool-result.ts";
import type { SharedData } from "../../../memory/shared-data.ts";
import { entrySeenBy } from "../../../policy/hearing.ts";
import { canonicalPath } from "../../../policy/paths.ts";
import { createSight, type Sight } from "../../../policy/sight.ts";
import type { CallOptions } from "../../../tools/registry.ts";
import type { TraceLog } from "../../../trace/trace-log.ts";
import type { Workspace } from "../../../workspace/ports.ts";
import { blobServices } from "./blobs.ts";
import { hostMemory, type HostMemoryPorts } from "./memory.ts";
import { type OutsidePorts, outsideServices } from "./outside.ts";

/** An agent's message to the user, and the action that it proposes with it. */
interface AgentNotification {
  readonly agent: string;
  readonly title: string;
  readonly message: string;
  readonly severity: "info" | "warning" | "error";
  readonly action?: Action;
}

/** Maximum length of one custom event's JSON, in characters. */
const maxEventCharacters = 64 * 1024;

export interface GuestServicePorts {
  readonly workspace: Workspace;
  readonly actions: Actions;
  readonly memories: HostMemoryPorts;
  readonly outside: OutsidePorts;
  readonly sharedData: SharedData;
  readonly traces: TraceLog;
  callTool(
    agent: string,
    name: string,
    args: unknown,
    principal: Principal,
    options: CallOptions,
  ): Promise<ToolResult>;
  /** Forwards the progress of an open tool call. Throws NotFound if there is no such call. */
  toolProgress(agent: string, call: string, progress: ToolProgress): void;
  /** The minimum level at which an agent's own traces are stored. */
  traceLevelOf(agent: string): TraceLevel;
  /** Throws ScopeViolation if the path is a link or below one. */
  refuseLink(path: string): Promise<void>;
  readonly jobs: {
    dispatch(agent: string, request: JobRequest): Promise<string>;
    /** `job`: the one that the agent's guest was running when it sent the request. */
    progress(agent: string, job: string | undefined, fraction: number, message?: string): void;
    checkpoint(agent: string, job: string | undefined, data: JsonValue): Promise<void>;
  };
  emit(name: string, data: Readonly<Record<string, JsonValue | undefined>>): Promise<void>;
  notify(notification: AgentNotification): void;
  /** An action was proposed. */
  proposed(): void;
}

/**
 * The guest ABI's methods, each forwarded to the room that implements it. Shape and permission are already
 * checked; the handlers restrict the results to what the caller may see.
 */
export function createGuestServices(ports: GuestServicePorts): GuestServices<Caller> {
  const { workspace, actions, sharedData, traces } = ports;
  const sightOf = ({ authority }: Caller): Sight => createSight(authority, workspace.view);
  const toldTo = ({ authority }: Caller, proposed: ProposedAction): Promise<Action> =>
    actions.answerTo(authority, proposed);
  const ownAction = async (caller: Caller, id: string): Promise<Action> => {
    const found = await actions.proposed(id);
    // Another agent's action is reported as missing.
    if (found === null || found.action.agent !== caller.agent) throw notFound("action", id);
    return toldTo(caller, found);
  };
  const propose = async (caller: Caller, proposal: ProposalRequest): Promise<ProposedAction> => {
    const { authority, bundleDigest, cpu, lineage } = caller;
    const proposed = await actions.propose(authority, bundleDigest, proposal, cpu, lineage.onBehalfOf);
    ports.proposed();
    return proposed;
  };
  // Searches share the event loop in slices: an agent with 64 searches gets one agent's share.
  const searches = new OneAtATime();
  const search = <Found>({ agent, signal }: Caller, run: (signal: AbortSignal) => Promise<Found>) =>
    unlessAborted(
      searches.run(agent, () => {
        signal.throwIfAborted();
        return run(signal);
      }),
      signal,
    );

  return {
    "vdfs/query": async (caller, query) => {
      const { seesEntry, reach } = sightOf(caller);
      const page = await search(caller, (signal) => workspace.query(query, seesEntry, reach, signal));
      return { ...page, items: page.items.map((entry) => entrySeenBy(caller.authority, entry)) };
    },
    "vdfs/count": async (caller, query) => {
      const { seesEntry, reach } = sightOf(caller);
      return { count: await search(caller, (signal) => workspace.count(query, seesEntry, reach, signal)) };
    },
    "vdfs/get": async (caller, reference) => {
      const wanted = "path" in reference ? { path: canonical(reference.path) } : reference;
      const entry = workspace.get(wanted, sightOf(caller).seesEntry);
      return entry === null ? null : entrySeenBy(caller.authority, entry);
    },
    "vdfs/read": async (caller, { path, offset = 0, length = maxReadBytes }) => {
      const wanted = canonical(path);
      const sight = sightOf(caller);
      const reading = workspace.read(wanted, offset, length, sight.seesEntry);
      const { bytes, eof } = await reading.catch(async (error: unknown) => {
        // A link is not an entry. An agent that could see a file with this name is told the reason.
        if (isLaresError(error, "NotFound") && sight.sees(wanted)) await ports.refuseLink(wanted);
        throw error;
      });
      return {
        base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64"),
        eof,
      };
    },
    "vdfs/sidecar/read": async (caller, { path, sidecar }) => {
      const entry = workspace.get({ path: canonical(path) }, sightOf(caller).seesEntry);
      return entry === null ? null : workspace.readSidecar(entry.path, sidecar);
    },
    "vdfs/copies": async (caller, { content_id }) => workspace.copies(content_id, sightOf(caller).seesEntry),

    ...hostMemory(ports.memories),
    ...blobServices,
    ...outsideServices(ports.outside),

    "actions/preview": async (caller, proposal) =>
      toldTo(caller, await actions.preview(caller.authority, caller.bundleDigest, proposal, caller.cpu)),
    "actions/propose": async (caller, proposal) => toldTo(caller, await propose(caller, proposal)),
    "actions/get": (caller, { id }) => ownAction(caller, id),
    "actions/settled": async (caller, { id }) => {
      await ownAction(caller, id);
      await unlessAborted(actions.settled(id), caller.signal);
      return ownAction(caller, id);
    },

    "jobs/dispatch": async ({ agent, lineage }, { when_idle, priority = "normal", ...request }) => ({
      id: await ports.jobs.dispatch(agent, { ...request, priority, whenIdle: when_idle === true, lineage }),
    }),
    "jobs/progress": async ({ agent, job }, { fraction, message }) => {
      ports.jobs.progress(agent, job, fraction, message);
      return {};
    },
    "jobs/checkpoint": async ({ agent, job }, { data }) => {
      await ports.jobs.checkpoint(agent, job, data);
      return {};
    },
    "tools/call": async (caller, call) => {
      const principal = { kind: "agent" as const, id: caller.agent, lineage: caller.lineage };
      const result = await ports.callTool(call.agent, call.name, call.arguments, principal, {
        ...(call.key === undefined ? {} : { key: call.key }),
        signal: caller.signal,
      });
      if (result.status !== "needs_approval") return result;
      const proposed = await actions.proposed(result.action.id);
      if (proposed === null) throw notFound("action", result.action.id);
      return { ...result, action: await toldTo(caller, proposed) };
    },
    "tools/progress": async ({ agent }, { call_id: call, ...progress }) => {
      ports.toolProgress(agent, call, progress);
      return {};
    },
    "events/emit": async (caller, { name, data }) => {
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

    "shared/read": (_caller, { key }) => sharedData.read(key),
    "shared/write": async ({ agent }, { key, value, version }) => ({
      version: await sharedData.write(agent, key, value, version),
    }),

    trace: async (caller, { level, message, fields }) => {
      if (traceLevels.indexOf(level) < traceLevels.indexOf(ports.traceLevelOf(caller.agent))) return;
      traces.write({
        level,
        agent: caller.agent,
        message,
        ...onBehalfField(caller.lineage.onBehalfOf),
        trace_id: caller.traceId ?? newId(),
        span_id: newId(),
        ...(caller.hook === undefined ? {} : { hook: caller.hook }),
        ...(fields === undefined ? {} : { fields }),
      });
    },
    notify: async (caller, { title, message, severity, action: effects }) => {
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

/** Policy has already refused every path without a canonical form. */
function canonical(path: string): string {
  const result = canonicalPath(path);
  return result.ok ? result.path : path;
}
