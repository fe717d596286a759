import { permissionDenied, type LaresError } from "../base/errors.ts";
import type { Authority, PermissionName } from "../base/vocabulary/permissions.ts";
import { isAskedFor } from "./permissions.ts";

/** Returns why the permission cannot be used at all; null if it can. The three cases have different messages. */
export function refusalOf(authority: Authority, permission: PermissionName): LaresError | null {
  if (isAskedFor(authority.effective, permission)) return null;
  const { extension } = authority;
  const denial = (why: string): LaresError => permissionDenied(extension, permission, why);
  if (!isAskedFor(authority.requested, permission)) {
    return denial(`${extension} did not ask for ${permission}; add it to the permissions in its manifest.`);
  }
  if (authority.denied.includes(permission)) {
    return denial(`${permission} was denied to ${extension}; remove it from "deny" in its grants.`);
  }
  return denial(
    `${extension} asked for ${permission} but was not granted it; add it to "allow" in its grants, or allow it where Lares asks for it.`,
  );
}
