import { permissionNames, type PermissionName, type Permissions } from "../base/vocabulary/permissions.ts";

interface Grants {
  /** Names of permissions; `"*"` stands for every one that the manifest requests. Default `["*"]`. */
  readonly allow?: readonly string[];
  /** Takes precedence over allow; `"*"` stands for every one. */
  readonly deny?: readonly string[];
}

interface EffectivePermissions {
  /** Requested, granted and not denied. */
  readonly effective: Permissions;
  /** Requested and denied by name. */
  readonly denied: PermissionName[];
}

export function effectivePermissions(requested: Permissions, grants: Grants): EffectivePermissions {
  const allow = new Set(grants.allow ?? ["*"]);
  const deny = new Set(grants.deny ?? []);
  const effective: Record<string, unknown> = {};
  const denied: PermissionName[] = [];
  for (const name of permissionNames) {
    if (!isAskedFor(requested, name)) continue;
    if (deny.has("*") || deny.has(name)) denied.push(name);
    else if (allow.has("*") || allow.has(name)) effective[name] = requested[name];
  }
  return { effective, denied };
}

/** A permission that is absent or `false` was not requested. */
export function isAskedFor(permissions: Permissions, name: PermissionName): boolean {
  return Object.hasOwn(permissions, name) && permissions[name] !== undefined && permissions[name] !== false;
}

/** True if a list of effect kinds names this one: `file.move`, or its family `file.*`. */
export function kindMatches(pattern: string, kind: string): boolean {
  if (pattern === "*" || pattern === kind) return true;
  return pattern.endsWith(".*") && kind.startsWith(pattern.slice(0, -1));
}
