import { invalidParams, permissionDenied, scopeViolation, type LaresError } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";
import type { Authority, PermissionName } from "../base/vocabulary/permissions.ts";
import { pathFault } from "./path-fault.ts";
import { canonicalPath, foldPath } from "./paths.ts";
import { kindMatches } from "./permissions.ts";
import { isVisible } from "./scope.ts";
import { holdsForbidden } from "./protected.ts";
import { refusalOf } from "./refusal.ts";

/** Returns the paths that an effect names: both ends of a move. */
function effectPaths(effect: Readonly<Record<string, unknown>>): unknown[] {
  return effect.kind === "file.move" ? [effect.from, effect.to] : [effect.path];
}

/** Checks the permission for all effects, then their paths, then their filters. Returns the first refusal, or null. */
export function decideEffects(authority: Authority, effects: unknown): LaresError | null {
  if (!Array.isArray(effects) || !effects.every(isJsonObject)) {
    return invalidParams("Effects must be a list of objects.");
  }
  for (const check of [permissionFault, locationFault, filterFault, readFault]) {
    for (const effect of effects) {
      const error = check(authority, effect);
      if (error !== null) return error;
    }
  }
  return null;
}

type EffectCheck = (authority: Authority, effect: Record<string, unknown>) => LaresError | null;

const permissionFault: EffectCheck = (authority, effect) => {
  const permission = permissionFor(effect.kind);
  if (permission === null) return invalidParams(`There is no effect of kind ${JSON.stringify(effect.kind)}.`);
  const refusal = refusalOf(authority, permission);
  if (refusal !== null || permission !== "propose_actions") return refusal;
  const kind = String(effect.kind);
  if ((authority.effective.propose_actions ?? []).some((pattern) => kindMatches(pattern, kind))) return null;
  return permissionDenied(
    authority.extension,
    permission,
    `${authority.extension} may not propose ${kind}; list it in propose_actions in its manifest.`,
  );
};

/**
 * Returns the entry that an effect changes in place, or takes from its place; null if the effect only puts something at
 * a path. Whether such an effect is possible reveals something about the entry, so it needs the right to read it.
 */
export function entryChangedBy(effect: Readonly<Record<string, unknown>>): string | null {
  if (effect.kind === "file.write" || effect.kind === "folder.create") return null;
  const path = effect.kind === "file.move" ? effect.from : effect.path;
  return typeof path === "string" ? path : null;
}

const readFault: EffectCheck = (authority, effect) => {
  const path = entryChangedBy(effect);
  if (path === null) return null;
  const refusal = refusalOf(authority, "read_entries");
  if (refusal !== null) return refusal;
  const canonical = canonicalPath(path);
  if (canonical.ok && isVisible(authority, canonical.path, "file")) return null;
  return permissionDenied(
    authority.extension,
    "read_entries",
    `${authority.extension} may not read ${JSON.stringify(path)}, and ${String(effect.kind)} needs that; widen the filter of read_entries in its manifest if it should.`,
  );
};

const locationFault: EffectCheck = (authority, effect) => {
  for (const path of effectPaths(effect)) {
    if (typeof path !== "string")
      return invalidParams(`An effect of kind ${String(effect.kind)} needs its paths.`);
    const checked = pathFault(authority, path);
    if (!checked.ok) return checked.error;
    if (effect.kind !== "file.move" && effect.kind !== "file.delete") continue;
    // A folder that contains a granted folder is not inside it: moving it changes the folder above.
    if (authority.locations.some((location) => foldPath(location) === foldPath(checked.path))) {
      return scopeViolation(
        path,
        `${JSON.stringify(path)} is a granted location itself, which cannot be moved or deleted.`,
      );
    }
    if (holdsForbidden(checked.path, authority)) {
      return scopeViolation(
        path,
        `${JSON.stringify(path)} holds something that is closed to every extension.`,
      );
    }
  }
  return null;
};

const filterFault: EffectCheck = (authority, effect) => {
  const { write_custom_fields: fields, write_sidecars: sidecars } = authority.effective;
  if (effect.kind === "field.set" && effect.namespace !== fields?.namespace) {
    return permissionDenied(
      authority.extension,
      "write_custom_fields",
      `${authority.extension} may write fields of "${fields?.namespace}" only, not of ${JSON.stringify(effect.namespace)}.`,
    );
  }
  if (effect.kind === "sidecar.write" && sidecars?.kinds.includes(String(effect.sidecar)) !== true) {
    return permissionDenied(
      authority.extension,
      "write_sidecars",
      `${authority.extension} may not write the sidecar ${JSON.stringify(effect.sidecar)}; list it in its manifest.`,
    );
  }
  return null;
};

function permissionFor(kind: unknown): PermissionName | null {
  switch (kind) {
    case "file.write":
    case "file.edit":
    case "file.move":
    case "file.delete":
    case "folder.create":
      return "propose_actions";
    case "tag.add":
    case "tag.remove":
      return "write_tags";
    case "field.set":
      return "write_custom_fields";
    case "sidecar.write":
      return "write_sidecars";
    default:
      return null;
  }
}
