import { invalidParams, LaresError, permissionDenied } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";
import type { Authority, PermissionName } from "../base/vocabulary/permissions.ts";
import { decideEffects } from "./effects.ts";
import { embedding, fetching, inferring, knowingModels, usingCredential, usingModels } from "./outside.ts";
import { pathFault } from "./path-fault.ts";
import { refusalOf } from "./refusal.ts";
import { passesReadFilter } from "./scope.ts";

export { entryChangedBy } from "./effects.ts";
export { effectivePermissions } from "./permissions.ts";
export { inGrantedScope, isVisible } from "./scope.ts";

/** A guest's request as received. */
interface HostCall {
  readonly method: string;
  readonly params: unknown;
}

type Decision = { readonly allowed: true } | { readonly allowed: false; readonly error: LaresError };

/**
 * Decides about a host call; every host call passes here. Checks in this order: the permission (requested, granted, not
 * denied) → path and location → the permission's own filter. Depends only on its arguments; the host has no other
 * rules.
 */
export function decideHostCall(authority: Authority, call: HostCall): Decision {
  const { method } = call;
  if (!isDecided(method)) {
    return refused(new LaresError("MethodNotFound", `The kernel has no method "${method}".`, { method }));
  }
  const params = isJsonObject(call.params) ? call.params : {};
  const { rule } = rules[method];
  const error = rule(authority, params) ?? callersFault(authority, rule, method, params);
  return error === null ? { allowed: true } : refused(error);
}

/** Decides about a text in a shared memory that no host call names, as about its plan. */
export function decideSharedText(
  authority: Authority,
  namespace: string,
  wanted: "read" | "read_write",
): Decision {
  const method = wanted === "read" ? "memory/working/read" : "memory/working/swap";
  return decideHostCall(authority, { method, params: { namespace } });
}

const refused = (error: LaresError): Decision => ({ allowed: false, error });

/** Returns why one of the agents on whose behalf it acts may not do this. */
function callersFault(
  { extension, onBehalfOf = [] }: Authority,
  rule: Rule,
  method: string,
  params: Record<string, unknown>,
): LaresError | null {
  if (concernsItselfAlone(extension, method, params)) return null;
  for (const caller of onBehalfOf) {
    const error = rule(caller, params);
    if (error === null) continue;
    // That agent's own error would reveal its grants to this one.
    const sentence = `${extension} was called by ${caller.extension}, which may not do this itself.`;
    return new LaresError(error.code, sentence, error.facts);
  }
  return null;
}

/**
 * True for what an agent does with its own memory, jobs, tools, models and events, whoever called it. A job and an event
 * carry the chain on, so that it bounds what follows from them; events reach no agent that may not know of what they name.
 */
function concernsItselfAlone(
  extension: string,
  method: string,
  { namespace, agent }: Record<string, unknown>,
): boolean {
  if (method.startsWith("memory/")) return namespace === undefined;
  if (method === "tools/call") return agent === extension;
  return method.startsWith("jobs/") || method === "events/emit" || method === "ai/infer";
}

/**
 * True for requests that stopped work may still make in order to clean up: reading, and writing to its agent's own memory.
 * They begin no new work, and no other agent or person notices them.
 */
export function isOrderlyEnd({ method, params }: HostCall): boolean {
  if (isReadingCall(method)) return true;
  return method.startsWith("memory/") && isJsonObject(params) && params["namespace"] === undefined;
}

type Rule = (authority: Authority, params: Record<string, unknown>) => LaresError | null;

const always: Rule = () => null;
const reading: Rule = (authority) => refusalOf(authority, "read_entries");
const seeingAgents: Rule = (authority) => refusalOf(authority, "see_agents");
const dispatching: Rule = (authority) => refusalOf(authority, "dispatch_jobs");
const effects: Rule = (authority, params) => decideEffects(authority, params.effects);

interface CallRule {
  readonly rule: Rule;
  /** It changes nothing: while what the agent may do changes, it is asked again. */
  readonly isReading: boolean;
}

const reads = (rule: Rule): CallRule => ({ rule, isReading: true });
const acts = (rule: Rule): CallRule => ({ rule, isReading: false });

const rules = {
  "vdfs/query": reads(reading), // results are filtered by visibility
  "vdfs/count": reads(reading),
  "vdfs/copies": reads(reading),
  "vdfs/get": reads((authority, params) =>
    params.path === undefined ? reading(authority, params) : readingPath(authority, params),
  ),
  "vdfs/read": reads(readingPath),
  "vdfs/thumbnail": reads(readingPath), // and the service reads as "vdfs/read" does
  "vdfs/sidecar/read": reads(readingPath),
  "memory/working/read": reads(remembering("read")),
  "memory/working/swap": acts(remembering("read_write")),
  "memory/temporal/append": acts(remembering("read_write")),
  "memory/temporal/query": reads(remembering("read")),
  "memory/temporal/count": reads(remembering("read")),
  "memory/associative/add": acts(remembering("read_write")),
  "memory/associative/update": acts(remembering("read_write")),
  "memory/associative/remove": acts(remembering("read_write")),
  "memory/associative/relate": acts(remembering("read_write")),
  "memory/associative/query": reads(remembering("read")),
  "memory/search": reads(remembering("read")),
  "memory/sync": acts(remembering("read")),
  "memory/cleanup": acts(remembering("read_write")),
  "actions/preview": reads(effects),
  "actions/propose": acts(effects),
  "actions/get": reads(always), // only the agent's own actions; the service compares the agent
  "actions/settled": reads(always),
  "actions/withdraw": acts(always),
  "agents/list": reads(seeingAgents),
  "jobs/dispatch": acts(dispatching),
  "jobs/task": acts(dispatching),
  "jobs/progress": acts(dispatching),
  "jobs/checkpoint": acts(dispatching),
  "tools/call": acts(callingTool),
  "tools/progress": acts(always), // of a call that the agent answers itself; the service looks for it
  "events/emit": acts(emitting),
  "ai/generate": acts(usingModels),
  "ai/embed": acts(embedding), // whether the texts may leave the machine, the service decides by `isLocalOnly`
  "ai/infer": acts(inferring), // only with models that its own manifest declares
  "ai/models": reads(knowingModels),
  "http/fetch": acts(fetching), // every address is decided by `egress.ts`
  "credentials/get": acts(usingCredential),
  "blobs/write": acts(always), // kept for the agent alone
  "blobs/read": reads(always),
  "shared/read": reads(sharing("read")),
  "shared/write": acts(sharing("write")),
  "types/create": acts(usingType("write")),
  "types/get": reads(usingType("read")),
  "types/query": reads(usingType("read")),
  "types/update": acts(usingType("write")),
  "types/remove": acts(usingType("write")),
  trace: acts(always),
  notify: acts((authority, params) =>
    params.action === undefined ? null : decideEffects(authority, params.action),
  ),
} satisfies Readonly<Record<string, CallRule>>;

/** The calls about which policy decides: the ABI's, or the door for guests does not compile. */
export type DecidedCall = keyof typeof rules;

const isDecided = (method: string): method is DecidedCall => Object.hasOwn(rules, method);

/** True for a call that changes nothing, so it can be repeated if its answer no longer holds. */
export function isReadingCall(method: string): boolean {
  return isDecided(method) && rules[method].isReading;
}

/** The methods that a guest may call. Each has a rule. */
export const hostCallMethods: readonly string[] = Object.keys(rules);

function readingPath(authority: Authority, params: Record<string, unknown>): LaresError | null {
  const refusal = refusalOf(authority, "read_entries");
  if (refusal !== null) return refusal;
  const { path } = params;
  if (typeof path !== "string") return invalidParams('"path" must be a string.', { path: "path" });
  const checked = pathFault(authority, path);
  if (!checked.ok) return checked.error;
  if (passesReadFilter(authority, checked.path)) return null;
  const permission = authority.effective.read_entries;
  const filter = typeof permission === "object" ? permission.filter : undefined;
  return permissionDenied(
    authority.extension,
    "read_entries",
    `"${path}" does not pass the filter "${filter}" of ${authority.extension}'s read_entries; widen the filter in its manifest if it should.`,
  );
}

function remembering(wanted: "read" | "read_write"): Rule {
  return (authority, { namespace }) => {
    const { extension } = authority;
    if (!authority.memory) {
      return permissionDenied(
        extension,
        "enable_memory",
        `${extension} has its memory switched off; set enable_memory = true in its manifest.`,
      );
    }
    if (namespace === undefined) return null;
    const granted =
      typeof namespace === "string" && Object.hasOwn(authority.namespaces, namespace)
        ? authority.namespaces[namespace]
        : undefined;
    if (granted === wanted || granted === "read_write") return null;
    const name = JSON.stringify(namespace);
    return permissionDenied(
      extension,
      "shared_namespaces",
      granted === undefined
        ? `${extension} was not granted the memory namespace ${name}; name it under shared_namespaces in lares.yaml.`
        : `${extension} may only read the memory namespace ${name}; set read_write: true under shared_namespaces in lares.yaml.`,
    );
  };
}

function callingTool(authority: Authority, params: Record<string, unknown>): LaresError | null {
  const { agent, name } = params;
  if (typeof agent !== "string" || typeof name !== "string") {
    return invalidParams('"agent" and "name" must be strings.');
  }
  if (agent === authority.extension) return null;
  const refusal = refusalOf(authority, "call_tools");
  if (refusal !== null) return refusal;
  const patterns = authority.effective.call_tools ?? [];
  if (patterns.includes(`${agent}/${name}`) || patterns.includes(`${agent}/*`)) return null;
  return notListed(authority, "call_tools", `${agent}/${name}`);
}

function emitting(authority: Authority, params: Record<string, unknown>): LaresError | null {
  const refusal = refusalOf(authority, "emit_events");
  if (refusal !== null) return refusal;
  if (typeof params.name !== "string") return invalidParams('"name" must be a string.');
  if (authority.effective.emit_events?.includes(params.name) === true) return null;
  return notListed(authority, "emit_events", params.name);
}

function sharing(direction: "read" | "write"): Rule {
  return (authority, params) => {
    const refusal = refusalOf(authority, "shared_data");
    if (refusal !== null) return refusal;
    if (typeof params.key !== "string") return invalidParams('"key" must be a string.');
    if (authority.effective.shared_data?.[direction]?.includes(params.key) === true) return null;
    return notListed(authority, "shared_data", `${direction} ${params.key}`);
  };
}

/** An extension may use its own types; for others it needs the permission, whoever calls on whose behalf. */
function usingType(direction: "read" | "write"): Rule {
  return (authority, { type }) => {
    if (typeof type !== "string") return invalidParams('"type" must be a string.', { path: "type" });
    const owner = type.slice(0, Math.max(0, type.indexOf("/")));
    if (owner === authority.extension) return null;
    const refusal = refusalOf(authority, "shared_types");
    if (refusal !== null) return refusal;
    const listed = authority.effective.shared_types?.[direction] ?? [];
    if (listed.includes(type) || listed.includes(`${owner}/*`)) return null;
    return notListed(authority, "shared_types", `${direction} ${type}`);
  };
}

function notListed(authority: Authority, permission: PermissionName, value: string): LaresError {
  return permissionDenied(
    authority.extension,
    permission,
    `${authority.extension} may use ${permission}, but not for "${value}"; list it in its manifest.`,
  );
}
