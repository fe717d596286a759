import type { ApprovalRule } from "../base/vocabulary/approval-rule.ts";
import { permissionNames, type PermissionName, type Permissions } from "../base/vocabulary/permissions.ts";
import { invalidParams } from "../base/errors.ts";
import { canonicalJson } from "../base/json.ts";
import { canonicalPath, isWithinExactly } from "../policy/paths.ts";
import {
  has,
  nothingRequested,
  type AcceptedExtension,
  type AcceptedRequests,
  type RequestedExtension,
  type Restraint,
  type RequestedSetting,
  type RequestedPermissions,
} from "./requested-permissions.ts";
import type { RequestedNamespace } from "./namespaces.ts";

/** What a person grants of a question: see `TrustGrants` of the protocol. */
export interface Grants {
  readonly extensions: readonly {
    readonly extension: string;
    readonly parts: readonly string[];
    readonly folders: readonly string[];
  }[];
  readonly workspace: readonly string[];
}

/** The smallest piece of a permission that can be granted: a whole permission, or one item of its list. */
export interface PermissionPart {
  readonly id: string;
  readonly name: PermissionName;
  /** The permission with only this part. */
  readonly permissions: Permissions;
}

/** Returns the parts of an extension's permissions, in the order in which permissions are listed everywhere. */
export function permissionParts(permissions: Permissions): PermissionPart[] {
  return permissionNames.flatMap((name): PermissionPart[] => {
    const detail: unknown = permissions[name];
    if (detail === undefined || detail === false) return [];
    if (!Array.isArray(detail)) return [{ id: name, name, permissions: { [name]: detail } }];
    const items = new Map(
      detail.map((item: unknown) => [typeof item === "string" ? item : canonicalJson(item), item]),
    );
    return [...items].map(([text, item]) => ({
      id: `${name}/${text}`,
      name,
      permissions: { [name]: [item] },
    }));
  });
}

/** Returns the permissions that consist of these parts. */
function permissionsOf(parts: readonly PermissionPart[]): Permissions {
  const permissions: Record<string, unknown> = {};
  for (const { name, permissions: only } of parts) {
    const [before, detail]: unknown[] = [permissions[name], only[name]];
    permissions[name] = Array.isArray(before) && Array.isArray(detail) ? [...before, ...detail] : detail;
  }
  return permissions;
}

/** Something that the workspace's document requests apart from its extensions. */
export type WorkspacePart = { readonly id: string } & (
  | { readonly kind: "rule"; readonly rule: ApprovalRule }
  | { readonly kind: "threshold"; readonly below: number }
  | { readonly kind: "limit"; readonly name: string; readonly value: number }
  | { readonly kind: "setting"; readonly setting: RequestedSetting }
  | { readonly kind: "hidden" }
  | { readonly kind: "namespace"; readonly namespace: RequestedNamespace }
  /** The document no longer contains a rule or an ignored pattern that restrained agents. */
  | { readonly kind: "release"; readonly restraint: Restraint }
);

/**
 * Returns what the document requests. `inForce` has the restraints that apply now. Ids are derived from the contents.
 */
export function workspaceParts(
  requests: RequestedPermissions,
  inForce: Pick<RequestedPermissions, "restraints">,
): WorkspacePart[] {
  const { allowRules, autoApproveBelow, limits, settings, showsHidden, namespaces } = requests;
  const parts: WorkspacePart[] = [
    ...allowRules.map((rule) => ({ kind: "rule" as const, id: `rule/${canonicalJson(rule)}`, rule })),
    ...(autoApproveBelow > 0
      ? [{ kind: "threshold" as const, id: `threshold/${autoApproveBelow}`, below: autoApproveBelow }]
      : []),
    ...Object.entries(limits).map(([name, value]) => ({
      kind: "limit" as const,
      id: `limit/${name}/${value}`,
      name,
      value,
    })),
    ...settings.map((setting) => ({
      kind: "setting" as const,
      id: `setting/${canonicalJson(setting)}`,
      setting,
    })),
    ...(showsHidden ? [{ kind: "hidden" as const, id: "hidden" }] : []),
    ...namespaces.map((namespace) => ({
      kind: "namespace" as const,
      id: `namespace/${canonicalJson(namespace)}`,
      namespace,
    })),
    ...inForce.restraints
      .filter((restraint) => !has(requests.restraints, restraint))
      .map((restraint) => ({
        kind: "release" as const,
        id: `release/${canonicalJson(restraint)}`,
        restraint,
      })),
  ];
  return [...new Map(parts.map((part) => [part.id, part])).values()];
}

/** What a person granted, and what they withheld. */
export interface Answer {
  readonly granted: RequestedPermissions;
  /** Null if everything was granted. */
  readonly withheld: RequestedPermissions | null;
}

/**
 * Splits the requests into what `grants` names and the rest. `inForce` has the restraints that apply now. Throws
 * InvalidParams if a grant was not requested.
 */
export function answerOf(
  requests: RequestedPermissions,
  grants: Grants,
  inForce: Pick<RequestedPermissions, "restraints">,
): Answer {
  const granted: Record<string, RequestedExtension> = {};
  const withheld: Record<string, RequestedExtension> = { ...requests.extensions };
  for (const { extension, parts, folders } of grants.extensions) {
    const request = Object.hasOwn(requests.extensions, extension)
      ? requests.extensions[extension]
      : undefined;
    if (request === undefined || Object.hasOwn(granted, extension))
      throw unasked(`The extension ${JSON.stringify(extension)} is not requested, or is named twice.`);
    const split = splitExtension(request, parts, folders);
    granted[extension] = split.granted;
    if (split.withheld === null) delete withheld[extension];
    else withheld[extension] = split.withheld;
  }
  const parts = workspaceParts(requests, inForce);
  const chosen = chosenOf(parts, grants.workspace);
  const rest = parts.filter(({ id }) => !chosen.some((part) => part.id === id));
  const kept = releasedBy(rest);
  const isWhole = Object.keys(withheld).length === 0 && rest.length === 0;
  return {
    granted: {
      ...permissionsOfParts(chosen),
      extensions: granted,
      // A restraint stays in force if its removal is withheld.
      restraints: [...requests.restraints, ...kept],
    },
    withheld: isWhole ? null : { ...permissionsOfParts(rest), extensions: withheld, restraints: kept },
  };
}

function splitExtension(
  request: RequestedExtension,
  ids: readonly string[],
  folders: readonly string[],
): { granted: RequestedExtension; withheld: RequestedExtension | null } {
  const parts = permissionParts(request.permissions);
  const chosen = chosenOf(parts, ids);
  const rest = parts.filter((part) => !chosen.includes(part));
  for (const folder of folders) {
    const canonical = canonicalPath(folder);
    const isRequested =
      canonical.ok &&
      canonical.path === folder &&
      request.locations.some((location) => isWithinExactly(location, folder));
    if (!isRequested)
      throw unasked(
        `The folder ${JSON.stringify(folder)} is not inside a folder that ${JSON.stringify(request.name)} requests.`,
      );
  }
  const locations = outermost(folders);
  const others = request.locations.filter(
    (location) => !locations.some((folder) => isWithinExactly(folder, location)),
  );
  return {
    granted: {
      ...request,
      permissions: rest.length === 0 ? request.permissions : permissionsOf(chosen),
      locations,
    },
    withheld:
      rest.length === 0 && others.length === 0
        ? null
        : { ...request, permissions: permissionsOf(rest), locations: others },
  };
}

/** Drops folders that lie inside another one. */
function outermost(folders: readonly string[]): string[] {
  const all = [...new Set(folders)];
  return all.filter((folder) => !all.some((other) => other !== folder && isWithinExactly(other, folder)));
}

function chosenOf<Part extends { readonly id: string }>(
  parts: readonly Part[],
  ids: readonly string[],
): Part[] {
  const wanted = new Set(ids);
  const chosen = parts.filter(({ id }) => wanted.has(id));
  if (chosen.length < wanted.size) {
    const unknown = ids.find((id) => !parts.some((part) => part.id === id));
    throw unasked(`There is no request called ${JSON.stringify(unknown)}.`);
  }
  return chosen;
}

const unasked = (what: string): Error =>
  invalidParams(`${what} Grant only what lares/trust/question lists.`, { path: "grants" });

function permissionsOfParts(parts: readonly WorkspacePart[]): RequestedPermissions {
  const all = <Kind extends WorkspacePart["kind"]>(kind: Kind) =>
    parts.filter((part): part is Extract<WorkspacePart, { kind: Kind }> => part.kind === kind);
  return {
    ...nothingRequested,
    allowRules: all("rule").map(({ rule }) => rule),
    autoApproveBelow: all("threshold")[0]?.below ?? 0,
    limits: Object.fromEntries(all("limit").map(({ name, value }) => [name, value])),
    settings: all("setting").map(({ setting }) => setting),
    showsHidden: all("hidden").length > 0,
    namespaces: all("namespace").map(({ namespace }) => namespace),
  };
}

const releasedBy = (parts: readonly WorkspacePart[]): Restraint[] =>
  parts.flatMap((part) => (part.kind === "release" ? [part.restraint] : []));

/**
 * Returns everything that the person has answered, by granting or withholding. Only requests that it does not cover are
 * asked.
 */
export function answered(granted: AcceptedRequests, withheld: AcceptedRequests | null): AcceptedRequests {
  if (withheld === null) return granted;
  const extensions: Record<string, AcceptedExtension> = { ...withheld.extensions };
  for (const [id, yes] of Object.entries(granted.extensions)) {
    const no = withheld.extensions[id];
    extensions[id] =
      no === undefined
        ? yes
        : {
            ...yes,
            permissions: permissionsOf([
              ...permissionParts(yes.permissions),
              ...permissionParts(no.permissions),
            ]),
            locations: [...yes.locations, ...no.locations],
          };
  }
  const limits = { ...granted.limits };
  for (const [name, value] of Object.entries(withheld.limits))
    limits[name] = Math.max(value, limits[name] ?? 0);
  return {
    extensions,
    allowRules: [...granted.allowRules, ...withheld.allowRules],
    autoApproveBelow: Math.max(granted.autoApproveBelow, withheld.autoApproveBelow),
    limits,
    settings: [...granted.settings, ...withheld.settings],
    showsHidden: granted.showsHidden || withheld.showsHidden,
    namespaces: [...granted.namespaces, ...withheld.namespaces],
    restraints: granted.restraints.filter((restraint) => !has(withheld.restraints, restraint)),
  };
}
