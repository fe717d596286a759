import { invalidParams, LaresError, permissionDenied } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";
import type { Authority, PermissionName } from "../base/vocabulary/permissions.ts";
import { decideEffects } from "./effects.ts";
import { pathFault } from "./path-fault.ts";
import { refusalOf } from "./refusal.ts";
import { passesReadFilter } from "./scope.ts";

export { entryChangedBy } from "./effects.ts";
export { effectivePermissions } from "./permissions.ts";
export { inGrantedScope, isVisible } from "./scope.ts";

/** A guest's request, as it came over the pipe. */
export interface HostCall {
  readonly method: string;
  readonly params: unknown;
}

export type Decision = { readonly allowed: true } | { readonly allowed: false; readonly error: LaresError };

/**
 * The one function that every host call passes. Order of refusals: the permission (asked for, granted, not
 * denied) → path and location → the permission's own filter. It looks at nothing but its arguments; a rule
 * of the host that is not written here does not exist.
 */
export function decideHostCall(authority: Authority, call: HostCall): Decision {
  const rule = Object.hasOwn(rules, call.method) ? rules[call.method] : undefined;
  const error =
    rule === undefined
      ? new LaresError("MethodNotFound", `The kernel has no method "${call.method}".`, {
          method: call.method,
        })
      : rule(authority, isJsonObject(call.params) ? call.params : {});
  return error === null ? { allowed: true } : { allowed: false, error };
}

type Rule = (authority: Authority, params: Record<string, unknown>) => LaresError | null;

const always: Rule = () => null;
const reading: Rule = (authority) => refusalOf(authority, "read_entries");
const dispatching: Rule = (authority) => refusalOf(authority, "dispatch_jobs");
const effects: Rule = (authority, params) => decideEffects(authority, params.effects);

const rules: Readonly<Record<string, Rule>> = {
  "vdfs/query": reading, // results are filtered by visibility
  "vdfs/count": reading,
  "vdfs/copies": reading,
  "vdfs/get": (authority, params) =>
    params.path === undefined ? reading(authority, params) : readingPath(authority, params),
  "vdfs/read": readingPath,
  "vdfs/sidecar/read": readingPath,
  "memory/working/read": remembering("read"),
  "memory/working/swap": remembering("read_write"),
  "memory/temporal/append": remembering("read_write"),
  "memory/temporal/query": remembering("read"),
  "memory/temporal/count": remembering("read"),
  "memory/associative/add": remembering("read_write"),
  "memory/associative/update": remembering("read_write"),
  "memory/associative/remove": remembering("read_write"),
  "memory/associative/relate": remembering("read_write"),
  "memory/associative/query": remembering("read"),
  "memory/search": remembering("read"),
  "memory/sync": remembering("read"),
  "memory/cleanup": remembering("read_write"),
  "actions/preview": effects,
  "actions/propose": effects,
  "actions/get": always, // its own only; the service compares the agent
  "actions/settled": always,
  "jobs/dispatch": dispatching,
  "jobs/progress": dispatching,
  "jobs/checkpoint": dispatching,
  "tools/call": callingTool,
  "events/emit": emitting,
  "shared/read": sharing("read"),
  "shared/write": sharing("write"),
  trace: always,
  notify: (authority, params) =>
    params.action === undefined ? null : decideEffects(authority, params.action),
};

/** Calls that change nothing, and whose answer depends on what the agent may see and read. */
const reads: ReadonlySet<string> = new Set([
  "vdfs/query",
  "vdfs/count",
  "vdfs/copies",
  "vdfs/get",
  "vdfs/read",
  "vdfs/sidecar/read",
  "memory/working/read",
  "memory/temporal/query",
  "memory/temporal/count",
  "memory/associative/query",
  "memory/search",
  "actions/get",
  "actions/settled",
  "shared/read",
]);

/** True for a call that changes nothing: it can be made again where its answer no longer holds. */
export function isReadingCall(method: string): boolean {
  return reads.has(method);
}

/** The methods a guest may call, each with a rule. */
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

function notListed(authority: Authority, permission: PermissionName, value: string): LaresError {
  return permissionDenied(
    authority.extension,
    permission,
    `${authority.extension} may use ${permission}, but not for "${value}"; list it in its manifest.`,
  );
}
