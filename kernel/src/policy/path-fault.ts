import { scopeViolation, type LaresError } from "../base/errors.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import { canonicalPath, isWithinExactly } from "./paths.ts";
import { isForbidden } from "./protected.ts";

type CheckedPath =
  { readonly ok: true; readonly path: string } | { readonly ok: false; readonly error: LaresError };

/** Returns the path in canonical form if it is valid, not forbidden, and lies in a granted location. */
export function pathFault(authority: Authority, input: string): CheckedPath {
  const refuse = (why: string): CheckedPath => ({
    ok: false,
    error: scopeViolation(input, `The path ${JSON.stringify(input)} ${why}.`),
  });
  const canonical = canonicalPath(input);
  if (!canonical.ok) return refuse(canonical.reason);
  if (isForbidden(canonical.path, authority)) return refuse("is closed to every extension");
  if (authority.locations.some((location) => isWithinExactly(location, canonical.path))) {
    return { ok: true, path: canonical.path };
  }
  const granted = authority.locations.length === 0 ? "none" : authority.locations.join(", ");
  return refuse(`lies outside the locations granted to ${authority.extension} (${granted})`);
}
