import { visibleText } from "../base/visible-text.ts";
import { named } from "../base/named.ts";
import { canonicalJson, isJsonObject, type JsonValue } from "../base/json.ts";
import type { DecisionStore } from "../decisions/store.ts";
import {
  asks,
  covered,
  isCovered,
  takenAway,
  type AcceptedWishes,
  type SettingWish,
  type Wishes,
} from "../decisions/wishes.ts";
import type { Configuration } from "../documents/configuration.ts";
import type { CatalogEntry, CatalogSnapshot } from "./catalog.ts";
import { onlyChangedPrograms } from "./changed-programs.ts";

/** What of the documents counts, given what the person said yes to. */
export interface InForce {
  readonly wishes: Wishes;
  /** The extensions that may run, each with the program that was accepted. */
  readonly entries: readonly CatalogEntry[];
  /** Named by the documents, waiting for a yes, or withheld by the person. */
  readonly waiting: readonly CatalogEntry[];
  /** The requests that a yes without parts would grant; empty if everything is answered. */
  readonly pendingAsks: readonly string[];
  /** Extensions of which only the changed program waits; empty if anything else waits too. */
  readonly changedPrograms: readonly string[];
}

/** True where the person has accepted all that the documents wish now. */
export function isAccepted(snapshot: CatalogSnapshot, decisions: DecisionStore): boolean {
  return decisions.isAccepted(snapshot.digest) || isCovered(snapshot.wishes, decisions.accepted);
}

/** True where the person has said yes or no to each thing that the documents wish now. */
export function isAnswered(snapshot: CatalogSnapshot, decisions: DecisionStore): boolean {
  return (
    decisions.isAnswered(snapshot.digest) ||
    isCovered(withoutDeclined(snapshot, decisions), decisions.answered)
  );
}

function withoutDeclined({ wishes }: CatalogSnapshot, { declined }: DecisionStore): Wishes {
  const extensions = Object.entries(wishes.extensions).filter(([id]) => !declined.has(id));
  return { ...wishes, extensions: Object.fromEntries(extensions) };
}

/**
 * While a changed program waits for its yes, the accepted one goes on where it is still at hand (`running`):
 * a person's agents do not fall silent because a file was saved.
 */
export function computeInForce(
  snapshot: CatalogSnapshot,
  decisions: DecisionStore,
  running: ReadonlyMap<string, CatalogEntry>,
): InForce {
  if (isAccepted(snapshot, decisions)) {
    return {
      wishes: snapshot.wishes,
      entries: snapshot.entries,
      waiting: [],
      pendingAsks: [],
      changedPrograms: [],
    };
  }
  const { accepted } = decisions;
  const atHand = snapshot.entries.map((entry) => {
    const before = running.get(entry.id);
    const program = before?.program.program?.digest;
    const isOld = program !== undefined && program === accepted.extensions[entry.id]?.program;
    return isOld && entry.program.program?.digest !== program
      ? { ...entry, program: before?.program ?? entry.program }
      : entry;
  });
  const wishes = covered({ ...snapshot.wishes, extensions: withPrograms(snapshot.wishes, atHand) }, accepted);
  const isInForce = ({ id, configuration }: CatalogEntry): boolean =>
    !configuration.enabled || wishes.extensions[id] !== undefined;
  return {
    wishes,
    entries: atHand.filter(isInForce),
    waiting: snapshot.entries.filter((entry) => !isInForce(entry)),
    // Withheld requests alone are not asked again. Once there is something new, a yes without parts grants them too.
    ...(isAnswered(snapshot, decisions)
      ? { pendingAsks: [], changedPrograms: [] }
      : {
          pendingAsks: newAsks(snapshot.wishes, wishes, accepted),
          changedPrograms: onlyChangedPrograms(withoutDeclined(snapshot, decisions), decisions.answered),
        }),
  };
}

function withPrograms(wishes: Wishes, entries: readonly CatalogEntry[]): Wishes["extensions"] {
  return Object.fromEntries(
    Object.entries(wishes.extensions).map(([id, wish]) => {
      const entry = entries.find((candidate) => candidate.id === id);
      return [id, { ...wish, program: entry?.program.program?.digest ?? null }];
    }),
  );
}

/** The sentences about what is wished and not in force; a changed program is named as such. */
function newAsks(wished: Wishes, inForce: Wishes, accepted: AcceptedWishes): string[] {
  const before = new Set(asks(inForce));
  const programs = Object.entries(wished.extensions)
    .filter(
      ([id, wish]) => inForce.extensions[id] !== undefined && inForce.extensions[id].program !== wish.program,
    )
    .map(([id, wish]) => `${visibleText(named(wish.name))} (${id}) has a changed program`);
  return [
    ...asks(wished, accepted).filter((sentence) => !before.has(sentence)),
    ...programs,
    ...takenAway(wished, inForce),
  ];
}

/**
 * Amounts that a document may lower as it likes, and raise once that is accepted: their names as written, and in the
 * configuration. What is not here counts only as accepted, whichever way it is changed.
 */
export const cappedLimits = [
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
] as const;

type Tree = Record<string, unknown>;
const capOf = (configuration: Configuration, section: string, name: string): number =>
  Number((configuration as unknown as Record<string, Tree>)[section]?.[name]);

/** The caps of the document that are above the person's own, by their names as written. */
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
 * Every setting of the documents that is another than the person's own, besides those that `Wishes` has in a field of
 * their own. A setting that is new in the configuration is in here without anybody's doing.
 */
export function otherSettings(configuration: Configuration, standing: Configuration): SettingWish[] {
  const own = new Map(leavesOf(unnamed(standing)).map(({ path, value }) => [canonicalJson(path), value]));
  return leavesOf(unnamed(configuration)).filter(({ path, value }) => {
    const before = own.get(canonicalJson(path));
    return before === undefined || canonicalJson(before) !== canonicalJson(value);
  });
}

/** What no other field of `Wishes` speaks of. */
function unnamed({
  extensions: _extensions,
  index: _index,
  sharedNamespaces: _shared,
  importNamespaces: _imported,
  approvals: { autoApproveBelow: _below, rules: _rules, ...approvals },
  ...rest
}: Configuration): Tree {
  const all: Tree = { ...rest, approvals };
  for (const [, section, name] of cappedLimits) {
    const { [name]: _capped, ...others } = all[section] as Tree;
    all[section] = others;
  }
  return all;
}

function leavesOf(value: unknown, path: readonly string[] = []): SettingWish[] {
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

/** The configuration that counts: the person's own, tightened by the document, widened as far as was accepted. */
export function configurationInForce(
  { configuration, standing }: CatalogSnapshot,
  wishes: Wishes,
): Configuration {
  const upTo = (wanted: number, own: number, accepted: number): number =>
    Math.min(wanted, Math.max(own, accepted));
  // It begins with the person's own: what is not accepted, and tightens nothing, does not count.
  let tree = standing as unknown as Tree;
  for (const { path, value } of wishes.settings) tree = withLeaf(tree, path, value);
  for (const [written, section, name] of cappedLimits) {
    const [wanted, own] = [capOf(configuration, section, name), capOf(standing, section, name)];
    tree = withLeaf(tree, [section, name], upTo(wanted, own, wishes.limits[written] ?? 0));
  }
  const settings = tree as unknown as Configuration;
  const restraints = wishes.restraints.flatMap((restraint) =>
    restraint.kind === "rule" ? [restraint.rule] : [],
  );
  const ignored = wishes.restraints.flatMap((restraint) =>
    restraint.kind === "ignore" ? [restraint.glob] : [],
  );
  return {
    ...settings,
    approvals: {
      ...settings.approvals,
      autoApproveBelow: upTo(
        configuration.approvals.autoApproveBelow,
        standing.approvals.autoApproveBelow,
        wishes.autoApproveBelow,
      ),
      rules: [...standing.approvals.rules, ...restraints, ...wishes.allowRules],
    },
    index: {
      hidden: configuration.index.hidden && (standing.index.hidden || wishes.showsHidden),
      ignore: [...new Set([...standing.index.ignore, ...ignored])],
    },
  };
}
