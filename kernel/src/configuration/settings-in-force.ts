import { canonicalJson, isJsonObject, type JsonValue } from "../base/json.ts";
import type { RequestedPermissions, RequestedSetting } from "../decisions/requested-permissions.ts";
import type { Configuration } from "../documents/configuration.ts";
import type { CatalogSnapshot } from "./catalog-snapshot.ts";

/**
 * Limits that a document may lower without consent and raise with it: their names in documents and in the
 * configuration. All other settings need consent for any change.
 */
const cappedLimits = [
  ["active_agents", "limits", "activeAgents"],
  ["idle_unload", "limits", "idleUnloadMs"],
  ["max_memory_mb", "limits", "maxMemoryMb"],
  ["max_storage_mb", "limits", "maxStorageMb"],
  ["max_vectors", "limits", "maxVectors"],
  ["max_cpu_ms_per_event", "limits", "maxCpuMsPerEvent"],
  ["max_wall_ms_per_event", "limits", "maxWallMsPerEvent"],
  ["max_events_per_second", "limits", "maxEventsPerSecond"],
  ["approvals.expire_after", "approvals", "expireAfterMs"],
  ["kernel.linger", "kernel", "lingerMs"],
  ["conversations.at_once", "conversations", "atOnce"],
  ["conversations.processes", "conversations", "processes"],
  ["conversations.unattended", "conversations", "unattendedMs"],
] as const;

type Tree = Record<string, unknown>;
const capOf = (configuration: Configuration, section: string, name: string): number =>
  Number((configuration as unknown as Record<string, Tree>)[section]?.[name]);

/** Returns the caps of the document that are above the person's own, by their names in documents. */
export function raisedLimits(configuration: Configuration, standing: Configuration): Record<string, number> {
  return Object.fromEntries(
    cappedLimits
      .map(
        ([written, section, name]) =>
          [written, capOf(configuration, section, name), capOf(standing, section, name)] as const,
      )
      .filter(([, wanted, own]) => wanted > own)
      .map(([written, wanted]) => [written, wanted]),
  );
}

/**
 * Returns every setting of the documents that differs from the person's own, except those that have a field of their own in
 * `RequestedPermissions`. A setting that is added to the configuration is included without further code.
 */
export function otherSettings(configuration: Configuration, standing: Configuration): RequestedSetting[] {
  const own = new Map(leavesOf(unnamed(standing)).map(({ path, value }) => [canonicalJson(path), value]));
  return leavesOf(unnamed(configuration)).filter(({ path, value }) => {
    const before = own.get(canonicalJson(path));
    return before === undefined || canonicalJson(before) !== canonicalJson(value);
  });
}

/** Returns the settings that no other field of `RequestedPermissions` covers. */
function unnamed({
  extensions: _extensions,
  index: _index,
  notifications: _notifications,
  sharedNamespaces: _shared,
  importNamespaces: _imported,
  approvals: { autoApproveBelow: _below, rules: _rules, ...approvals },
  conversations: { untrusted: _untrusted, ...conversations },
  ...rest
}: Configuration): Tree {
  const all: Tree = { ...rest, approvals, conversations };
  for (const [, section, name] of cappedLimits) {
    const { [name]: _capped, ...others } = all[section] as Tree;
    all[section] = others;
  }
  return all;
}

function leavesOf(value: unknown, path: readonly string[] = []): RequestedSetting[] {
  return isJsonObject(value)
    ? Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, [...path, key]))
    : [{ path, value: value as JsonValue }];
}

function withLeaf(tree: Tree, [name = "", ...rest]: readonly string[], value: unknown): Tree {
  const inner = tree[name];
  return {
    ...tree,
    [name]: rest.length === 0 ? value : withLeaf(isJsonObject(inner) ? inner : {}, rest, value),
  };
}

/** Returns the configuration in force: the user's own, tightened by the document, and widened as far as accepted. */
export function configurationInForce(
  { configuration, standing }: CatalogSnapshot,
  requests: RequestedPermissions,
): Configuration {
  const upTo = (wanted: number, own: number, accepted: number): number =>
    Math.min(wanted, Math.max(own, accepted));
  // Starts from the user's own configuration: a setting that is not accepted and tightens nothing is not in force.
  let tree = standing as unknown as Tree;
  for (const { path, value } of requests.settings) tree = withLeaf(tree, path, value);
  for (const [written, section, name] of cappedLimits) {
    const [wanted, own] = [capOf(configuration, section, name), capOf(standing, section, name)];
    tree = withLeaf(tree, [section, name], upTo(wanted, own, requests.limits[written] ?? 0));
  }
  const settings = tree as unknown as Configuration;
  const restraints = requests.restraints.flatMap((restraint) =>
    restraint.kind === "rule" ? [restraint.rule] : [],
  );
  const globsOf = (kind: "ignore" | "untrusted"): string[] =>
    requests.restraints.flatMap((restraint) => (restraint.kind === kind ? [restraint.glob] : []));
  return {
    ...settings,
    approvals: {
      ...settings.approvals,
      autoApproveBelow: upTo(
        configuration.approvals.autoApproveBelow,
        standing.approvals.autoApproveBelow,
        requests.autoApproveBelow,
      ),
      rules: [...standing.approvals.rules, ...restraints, ...requests.allowRules],
    },
    index: {
      hidden: configuration.index.hidden && (standing.index.hidden || requests.showsHidden),
      ignore: [...new Set([...standing.index.ignore, ...globsOf("ignore")])],
    },
    // Rules of a workspace only take channels away, so they count at once.
    notifications: {
      person: standing.notifications.person,
      workspace: configuration.notifications.workspace,
    },
    conversations: {
      ...settings.conversations,
      untrusted: [...new Set([...standing.conversations.untrusted, ...globsOf("untrusted")])],
    },
  };
}
