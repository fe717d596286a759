import type { ApprovalRule } from "../base/vocabulary/approval-rule.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import { permissionNames, type Permissions } from "../base/vocabulary/permissions.ts";
import { canonicalJson, type JsonValue } from "../base/json.ts";
import { visibleText } from "../base/visible-text.ts";
import { describePermissions } from "./describe-permission.ts";
import { isWithinExactly } from "../policy/paths.ts";
import {
  behaviourChanges,
  coveredBehaviour,
  describeBehaviour,
  isBehaviourCovered,
  type Behaviour,
  type KeptBehaviour,
} from "./behaviour.ts";
import { named } from "../base/named.ts";
import {
  coveredNamespaces,
  describeNamespace,
  isNamespaceCovered,
  type RequestedNamespace,
} from "./namespaces.ts";

/** What one extension would be allowed if the document was accepted as it is. */
export interface RequestedExtension {
  readonly name: string;
  /**
   * The real location that it comes from, with links resolved, shown to the person because anybody can use any name.
   * Part of what is accepted.
   */
  readonly origin: string;
  /** Digest over the program and everything bundled into it; null if it could not be prepared. */
  readonly program: Hash | null;
  readonly permissions: Permissions;
  readonly locations: readonly string[];
  /** What its agent does; see {@link Behaviour}. */
  readonly behaviour: Behaviour;
  /** The digest of the canonical JSON of `behaviour`. */
  readonly behaviourDigest: Hash;
  /** Files in the program that are not program source, and code from outside its folder. */
  readonly carries: readonly CarriedFile[];
}

export interface CarriedFile {
  /** Relative to the extension's folder. */
  readonly path: string;
  readonly bytes: number;
}

/**
 * An extension as stored with an acceptance. An earlier version of Lares stored neither behaviour nor files: those
 * acceptances no longer cover any extension, and the person is asked again.
 */
export interface AcceptedExtension extends Omit<
  RequestedExtension,
  "behaviour" | "behaviourDigest" | "carries"
> {
  readonly behaviour?: KeptBehaviour;
  readonly carries?: readonly CarriedFile[];
  /** The files of the accepted program; their contents are kept as far as there is room. */
  readonly sources?: readonly ProgramSource[];
}

/** A file that is part of a program. */
export interface ProgramSource {
  /** Relative to the extension's folder. */
  readonly path: string;
  readonly hash: Hash;
}

/** All requests that a person granted, as stored. */
export interface AcceptedRequests extends Omit<RequestedPermissions, "extensions"> {
  readonly extensions: Readonly<Record<string, AcceptedExtension>>;
}

/** A setting of the workspace's document that differs from the person's own. */
export interface RequestedSetting {
  /** The names from the top of the configuration to the setting. */
  readonly path: readonly string[];
  readonly value: JsonValue;
}

/**
 * Everything in a workspace's documents that extends what can happen to the person's files. It applies once a person
 * accepts it. Settings that only restrict are not part of this and apply at once.
 */
export interface RequestedPermissions {
  readonly extensions: Readonly<Record<string, RequestedExtension>>;
  /** Only the rules that allow. */
  readonly allowRules: readonly ApprovalRule[];
  /** Impact score; 0 if the document sets none, or none above the person's own. */
  readonly autoApproveBelow: number;
  /** Caps of the document that are above the person's own, by their names in the document. */
  readonly limits: Readonly<Record<string, number>>;
  /** All other settings that differ from the person's own. */
  readonly settings: readonly RequestedSetting[];
  /** The document lists hidden files, and the person's own configuration does not. */
  readonly showsHidden: boolean;
  /** Memories that agents may open besides their own. */
  readonly namespaces: readonly RequestedNamespace[];
  /** Restrictions: rules that deny or ask, and globs of files that are ignored or untrusted. Removing one has to be accepted. */
  readonly restraints: readonly Restraint[];
}

export type Restraint =
  | { readonly kind: "rule"; readonly rule: ApprovalRule }
  | { readonly kind: "ignore"; readonly glob: string }
  /** Files whose contents others wrote. */
  | { readonly kind: "untrusted"; readonly glob: string };

export const nothingRequested: RequestedPermissions = {
  extensions: {},
  allowRules: [],
  autoApproveBelow: 0,
  limits: {},
  settings: [],
  showsHidden: false,
  namespaces: [],
  restraints: [],
};

/** True if accepting `accepted` covers all of `requests`. */
export function isCovered(requests: RequestedPermissions, accepted: AcceptedRequests): boolean {
  return (
    requests.autoApproveBelow <= accepted.autoApproveBelow &&
    requests.allowRules.every((rule) => has(accepted.allowRules, rule)) &&
    Object.entries(requests.limits).every(([name, value]) => value <= (accepted.limits[name] ?? 0)) &&
    requests.settings.every((setting) => has(accepted.settings, setting)) &&
    (!requests.showsHidden || accepted.showsHidden) &&
    requests.namespaces.every((request) => isNamespaceCovered(request, accepted.namespaces)) &&
    accepted.restraints.every((restraint) => has(requests.restraints, restraint)) &&
    Object.entries(requests.extensions).every(([id, request]) => {
      const before = accepted.extensions[id];
      return before !== undefined && isExtensionCovered(request, before);
    })
  );
}

/** Returns the accepted behaviour as far as it is known: stored in full, or known to be the same. */
export function knownBehaviour(
  request: RequestedExtension,
  { behaviour }: AcceptedExtension,
): Behaviour | null {
  if (behaviour === undefined) return null;
  if (!("digest" in behaviour)) return behaviour;
  return behaviour.digest === request.behaviourDigest ? request.behaviour : null;
}

/** True if accepting `accepted` covers everything that the extension requests now. */
export function isExtensionCovered(request: RequestedExtension, accepted: AcceptedExtension): boolean {
  const behaviour = knownBehaviour(request, accepted);
  return (
    // A program that cannot be prepared cannot run, so there is nothing to accept.
    (request.program === null || request.program === accepted.program) &&
    request.origin === accepted.origin &&
    behaviour !== null &&
    isBehaviourCovered(request.behaviour, behaviour) &&
    request.carries.every(({ path }) => accepted.carries?.some((file) => file.path === path) === true) &&
    request.locations.every((location) =>
      accepted.locations.some((folder) => isWithinExactly(folder, location)),
    ) &&
    permissionNames.every((name) => {
      const asked = request.permissions[name];
      return (
        asked === undefined || asked === false || isDetailCovered(asked, accepted.permissions[name] ?? null)
      );
    })
  );
}

/**
 * Returns what is in force while a wider document waits for an answer: the part of each request that was accepted
 * before. Excludes extensions that are new, whose program changed, or that come from another place now.
 */
export function covered(requests: RequestedPermissions, accepted: AcceptedRequests): RequestedPermissions {
  const extensions: Record<string, RequestedExtension> = {};
  for (const [id, request] of Object.entries(requests.extensions)) {
    const before = accepted.extensions[id];
    if (before === undefined || request.program !== before.program || request.origin !== before.origin)
      continue;
    const behaviour = knownBehaviour(request, before);
    if (behaviour === null) continue;
    extensions[id] = {
      ...request,
      behaviour: coveredBehaviour(request.behaviour, behaviour),
      permissions: commonPermissions(request.permissions, before.permissions),
      locations: commonLocations(request.locations, before.locations),
    };
  }
  return {
    extensions,
    allowRules: requests.allowRules.filter((rule) => has(accepted.allowRules, rule)),
    autoApproveBelow: Math.min(requests.autoApproveBelow, accepted.autoApproveBelow),
    limits: Object.fromEntries(
      Object.entries(requests.limits).map(([name, value]) => [
        name,
        Math.min(value, accepted.limits[name] ?? 0),
      ]),
    ),
    settings: requests.settings.flatMap(({ path }) =>
      accepted.settings.filter((before) => canonicalJson(before.path) === canonicalJson(path)),
    ),
    showsHidden: requests.showsHidden && accepted.showsHidden,
    namespaces: coveredNamespaces(requests.namespaces, accepted.namespaces),
    // The restraints of both: a new one applies at once, a removed one stays in force.
    restraints: [
      ...requests.restraints,
      ...accepted.restraints.filter((restraint) => !has(requests.restraints, restraint)),
    ],
  };
}

/**
 * Returns true if a detail is accepted: for a list, if each of its items is; for any other detail, only if it is
 * identical, because the kernel cannot tell which of two is narrower.
 */
function isDetailCovered(asked: unknown, accepted: unknown): boolean {
  if (Array.isArray(asked)) {
    const known: readonly unknown[] = Array.isArray(accepted) ? accepted : [];
    return asked.every((item: unknown) => has(known, item));
  }
  return canonicalJson(asked) === canonicalJson(accepted);
}

function commonPermissions(asked: Permissions, accepted: Permissions): Permissions {
  const common: Record<string, unknown> = {};
  for (const name of permissionNames) {
    const [wanted, known]: unknown[] = [asked[name], accepted[name]];
    if (wanted === undefined || known === undefined) continue;
    if (isDetailCovered(wanted, known)) common[name] = wanted;
    else if (Array.isArray(wanted) && Array.isArray(known)) {
      const both = wanted.filter((item: unknown) => has(known, item));
      if (both.length > 0) common[name] = both;
    }
  }
  return common;
}

function commonLocations(asked: readonly string[], accepted: readonly string[]): string[] {
  const inBoth = [
    ...asked.filter((location) => accepted.some((folder) => isWithinExactly(folder, location))),
    ...accepted.filter((location) => asked.some((folder) => isWithinExactly(folder, location))),
  ];
  return [...new Set(inBoth)];
}

/** True if the list has an item with the same canonical JSON. */
export function has<Item>(items: readonly Item[], item: Item): boolean {
  const text = canonicalJson(item);
  return items.some((candidate) => canonicalJson(candidate) === text);
}

/**
 * Returns the requests as sentences that a person is shown before accepting. For an extension that `accepted` contains,
 * only the changes of its behaviour are described. Every character is visible; see `visibleText`.
 */
export function describeRequests(
  requests: RequestedPermissions,
  accepted: AcceptedRequests = nothingRequested,
): string[] {
  const sentences: string[] = [];
  for (const [id, request] of Object.entries(requests.extensions)) {
    const permissions = describePermissions(request.permissions);
    const where =
      request.locations.length === 0 ? "in no folder" : `in ${request.locations.map(folderName).join(", ")}`;
    const what = permissions.length === 0 ? "asks for nothing" : `asks to ${permissions.join("; to ")}`;
    sentences.push(`${named(request.name)} (${id}, ${request.origin}) ${what}, ${where}`);
    sentences.push(...behaviourAsks(id, request, accepted.extensions[id]));
    if (request.carries.length > 0) {
      const files = request.carries.map(({ path, bytes }) => `${named(path)} (${bytes} bytes)`);
      sentences.push(`the program of ${id} contains these files, and can read them: ${files.join(", ")}`);
    }
  }
  for (const rule of requests.allowRules) {
    sentences.push(`the document allows without asking: ${describeRule(rule)}`);
  }
  if (requests.autoApproveBelow > 0) {
    sentences.push(
      `the document approves automatically every change with an impact below ${requests.autoApproveBelow}`,
    );
  }
  for (const [name, value] of Object.entries(requests.limits)) {
    sentences.push(`the document raises the limit ${name} to ${value}`);
  }
  for (const { path, value } of requests.settings) {
    sentences.push(`the document sets ${path.map(written).join(".")} to ${JSON.stringify(value)}`);
  }
  if (requests.showsHidden) sentences.push("the document lists hidden files and folders too");
  sentences.push(...requests.namespaces.map(describeNamespace));
  return sentences.map((sentence) => visibleText(sentence));
}

function behaviourAsks(
  id: string,
  request: RequestedExtension,
  accepted: AcceptedExtension | undefined,
): string[] {
  const before = accepted === undefined ? null : knownBehaviour(request, accepted);
  if (before !== null) {
    return behaviourChanges(request.behaviour, before).map((change) => `${id} changed: ${change}`);
  }
  const now = describeBehaviour(request.behaviour);
  const why =
    accepted === undefined
      ? []
      : [
          accepted.behaviour === undefined
            ? `what ${id} does is asked once more: an earlier version of Lares did not store it with your consent`
            : `what ${id} does has changed; it was too long to be stored, so the change cannot be shown`,
        ];
  return [...why, ...(now === null ? [] : [`${id} ${now}`])];
}

/** Returns the name as written in documents: `expire_after_ms` for `expireAfterMs`. */
export const written = (name: string): string =>
  named(name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));

/** Returns the restraints that the document no longer contains, one sentence each. */
export function describeRemovedRestraints(
  requests: RequestedPermissions,
  inForce: RequestedPermissions,
): string[] {
  return inForce.restraints
    .filter((restraint) => !has(requests.restraints, restraint))
    .map((restraint) =>
      restraint.kind === "ignore"
        ? `the document no longer leaves out ${named(restraint.glob)}`
        : restraint.kind === "untrusted"
          ? `the document no longer says that others wrote ${named(restraint.glob)}`
          : `the document no longer ${restraint.rule.decide === "deny" ? "forbids" : "asks about"} ${describeRule(restraint.rule)}`,
    )
    .map((sentence) => visibleText(sentence));
}

export function describeRule({ kind, path, agent }: ApprovalRule): string {
  const parts = [
    kind === undefined ? "every kind of change" : named(kind),
    path === undefined ? null : `on ${named(path)}`,
    `by ${agent === undefined ? "any agent" : named(agent)}`,
  ];
  return parts.filter((part) => part !== null).join(" ");
}

function folderName(location: string): string {
  return location === "." ? "the whole workspace" : named(`${location}/`);
}
