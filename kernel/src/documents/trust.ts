import type { ApprovalRule } from "../base/vocabulary/action.ts";
import { canonicalJson } from "../base/json.ts";
import { plainLine } from "../base/plain-text.ts";
import { permissionNames, type Permissions } from "../base/vocabulary/permissions.ts";
import { canonicalLocation } from "./lares.ts";
import type { ResolvedManifest } from "./resolved-manifest.ts";
import type { LaresDocument } from "./schema/lares.ts";

/** What one extension would be allowed. */
export interface ExtensionWidening {
  readonly name: string;
  /** What the manifest asks for, of that what the document allows, without what it denies. */
  readonly permissions: Permissions;
  readonly locations: readonly string[];
  readonly hosts: readonly string[];
}

/** What a document brings that lets more happen than without it, and what it holds back. */
export interface Widening {
  readonly extensions: Readonly<Record<string, ExtensionWidening>>;
  readonly allowRules: readonly ApprovalRule[];
  /** Rules that deny or ask: a document that loses one lets more happen than before. */
  readonly restrictingRules: readonly ApprovalRule[];
  readonly autoApproveBelow: number;
  /** Limits above those that count without the document, by name. */
  readonly raisedLimits: Readonly<Record<string, number>>;
  /** Memories that would be shared, canonical JSON each. */
  readonly namespaces: readonly string[];
}

type Limits = NonNullable<LaresDocument["limits"]>;
const caps = [
  "active_agents",
  "max_memory_mb",
  "max_storage_mb",
  "max_cpu_ms_per_event",
  "max_wall_ms_per_event",
  "max_events_per_second",
] as const satisfies (keyof Limits)[];

/**
 * What a workspace document widens. `manifests` holds, for each entry of `extensions` by its index, the
 * manifest it leads to; entries without one cannot run. `without` are the limits of the other layers.
 */
export function wideningOf(
  document: LaresDocument,
  manifests: ReadonlyMap<number, ResolvedManifest>,
  without: Limits,
): Widening {
  const extensions: Record<string, ExtensionWidening> = {};
  for (const [index, entry] of (document.extensions ?? []).entries()) {
    const manifest = manifests.get(index);
    if (manifest === undefined || entry.enabled === false) continue;
    const { allow = ["*"], deny = [], locations = ["."] } = entry.grants ?? {};
    const permitted = permissionNames.filter((name) => {
      const asked = manifest.permissions[name];
      const granted = allow.includes("*") || allow.includes(name);
      return asked !== undefined && asked !== false && granted && !deny.includes(name) && !deny.includes("*");
    });
    extensions[manifest.id] = {
      name: manifest.name,
      permissions: Object.fromEntries(
        permitted.map((name) => [name, manifest.permissions[name]]),
      ) as Permissions,
      locations: locations.map(canonicalLocation).filter((location) => location !== null),
      hosts: manifest.resources.allowed_hosts ?? [],
    };
  }
  const rules = document.approvals?.rules ?? [];
  const raised = caps.flatMap((name) => {
    const limit = document.limits?.[name];
    const before = without[name];
    return limit !== undefined && before !== undefined && limit > before ? [[name, limit] as const] : [];
  });
  return {
    extensions,
    allowRules: rules.filter(({ decide }) => decide === "allow"),
    restrictingRules: rules.filter(({ decide }) => decide !== "allow"),
    autoApproveBelow: document.approvals?.auto_approve_below ?? 0,
    raisedLimits: Object.fromEntries(raised),
    namespaces: [...(document.shared_namespaces ?? []), ...(document.import_namespaces ?? [])].map(
      (namespace) => canonicalJson(namespace),
    ),
  };
}

/** True where `next` lets anything happen that `accepted` did not. What only tightens is not wider. */
export function isWiderThan(next: Widening, accepted: Widening): boolean {
  const has = (rules: readonly ApprovalRule[], rule: ApprovalRule): boolean =>
    rules.some((other) => canonicalJson(other) === canonicalJson(rule));
  const isExtensionWider = ([id, wanted]: [string, ExtensionWidening]): boolean => {
    const before = accepted.extensions[id];
    if (before === undefined) return true;
    return (
      wanted.locations.some((location) => !before.locations.some((folder) => contains(folder, location))) ||
      wanted.hosts.some((host) => !before.hosts.includes(host)) ||
      // A permission whose details differ is another one: which of the two is narrower cannot be told.
      permissionNames.some(
        (name) =>
          wanted.permissions[name] !== undefined &&
          canonicalJson(wanted.permissions[name]) !== canonicalJson(before.permissions[name] ?? null),
      )
    );
  };
  return (
    Object.entries(next.extensions).some(isExtensionWider) ||
    next.allowRules.some((rule) => !has(accepted.allowRules, rule)) ||
    accepted.restrictingRules.some((rule) => !has(next.restrictingRules, rule)) ||
    next.autoApproveBelow > accepted.autoApproveBelow ||
    Object.entries(next.raisedLimits).some(([name, limit]) => limit > (accepted.raisedLimits[name] ?? 0)) ||
    next.namespaces.some((namespace) => !accepted.namespaces.includes(namespace))
  );
}

/** What an acceptance is bound to: hash this. `programs` holds each extension's digest over all that is bundled. */
export function trustSubject(widening: Widening, programs: Readonly<Record<string, string | null>>): string {
  return canonicalJson({ widening, programs });
}

/** The widening in sentences, for the person who decides. Foreign text in them is cut down to what one line can show. */
export function asksOf(widening: Widening): string[] {
  const sentences = Object.entries(widening.extensions).flatMap(
    ([id, { name, permissions, locations, hosts }]) => {
      const where = locations.length === 0 ? "in no folder" : `in ${locations.map(folderName).join(", ")}`;
      const asked = Object.entries(permissions).map(([permission, detail]) => describe(permission, detail));
      const who = `${plain(name)} (${id})`;
      return [
        asked.length === 0
          ? `${who} asks for nothing ${where}`
          : `${who} asks for ${asked.join("; ")} ${where}`,
        ...(hosts.length === 0 ? [] : [`${who} asks to reach ${hosts.map(plain).join(", ")}`]),
      ];
    },
  );
  for (const { kind = "every kind of change", path, agent = "any agent" } of widening.allowRules) {
    const on = path === undefined ? "" : ` on ${plain(path)}`;
    sentences.push(`the document allows without asking: ${plain(kind)}${on} by ${plain(agent)}`);
  }
  if (widening.autoApproveBelow > 0) {
    sentences.push(
      `the document approves by itself every change with an impact below ${widening.autoApproveBelow}`,
    );
  }
  for (const [name, limit] of Object.entries(widening.raisedLimits))
    sentences.push(`the document raises ${name} to ${limit}`);
  for (const namespace of widening.namespaces)
    sentences.push(`the document shares a memory: ${plain(namespace)}`);
  return sentences;
}

function contains(folder: string, location: string): boolean {
  return folder === "." || folder === location || location.startsWith(`${folder}/`);
}

function folderName(location: string): string {
  return location === "." ? "the whole workspace" : `${plain(location)}/`;
}

function describe(permission: string, detail: unknown): string {
  return detail === true ? permission : `${permission} ${plain(canonicalJson(detail))}`;
}

/** Foreign text on one line, and no longer than that line can show. */
function plain(text: string): string {
  const visible = plainLine(text);
  return visible.length > 200 ? `${visible.slice(0, 199)}…` : visible;
}
