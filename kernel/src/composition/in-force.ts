import type { DecisionStore } from "../decisions/store.ts";
import { asks, covered, isCovered, takenAway, type Wishes } from "../decisions/wishes.ts";
import type { Configuration } from "../documents/configuration.ts";
import type { CatalogEntry, CatalogSnapshot } from "./catalog.ts";
import { onlyChangedPrograms } from "./changed-programs.ts";

/** What of the documents counts, given what the person said yes to. */
export interface InForce {
  readonly wishes: Wishes;
  /** The extensions that may run, each with the program that was accepted. */
  readonly entries: readonly CatalogEntry[];
  /** Named by the documents, waiting for a yes. */
  readonly waiting: readonly CatalogEntry[];
  /** What a yes would add; empty where everything is accepted. */
  readonly pendingAsks: readonly string[];
  /** Extensions whose changed program is all that waits; empty where anything else waits too. */
  readonly changedPrograms: readonly string[];
}

/** True where the person has accepted all that the documents wish now. */
export function isAccepted(snapshot: CatalogSnapshot, decisions: DecisionStore): boolean {
  return decisions.isAccepted(snapshot.digest) || isCovered(snapshot.wishes, decisions.accepted);
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
    pendingAsks: newAsks(snapshot.wishes, wishes),
    changedPrograms: onlyChangedPrograms(snapshot.wishes, accepted),
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
function newAsks(wished: Wishes, inForce: Wishes): string[] {
  const before = new Set(asks(inForce));
  const programs = Object.entries(wished.extensions)
    .filter(
      ([id, wish]) => inForce.extensions[id] !== undefined && inForce.extensions[id].program !== wish.program,
    )
    .map(([id, wish]) => `${wish.name} (${id}) has a changed program`);
  return [
    ...asks(wished).filter((sentence) => !before.has(sentence)),
    ...programs,
    ...takenAway(wished, inForce),
  ];
}

/** The limits an accepted document may raise: their names as written, and in the configuration. */
export const cappedLimits = [
  ["active_agents", "activeAgents"],
  ["max_memory_mb", "maxMemoryMb"],
  ["max_storage_mb", "maxStorageMb"],
  ["max_vectors", "maxVectors"],
  ["max_cpu_ms_per_event", "maxCpuMsPerEvent"],
  ["max_wall_ms_per_event", "maxWallMsPerEvent"],
  ["max_events_per_second", "maxEventsPerSecond"],
] as const satisfies [string, keyof Configuration["limits"]][];

/** The configuration that counts: the person's own, tightened by the document, widened as far as was accepted. */
export function configurationInForce(
  { configuration, standing }: CatalogSnapshot,
  wishes: Wishes,
): Configuration {
  const upTo = (wanted: number, own: number, accepted: number): number =>
    Math.min(wanted, Math.max(own, accepted));
  const limits = Object.fromEntries(
    cappedLimits.map(([written, name]) => [
      name,
      upTo(configuration.limits[name], standing.limits[name], wishes.limits[written] ?? 0),
    ]),
  );
  const restraints = wishes.restraints.flatMap((restraint) =>
    restraint.kind === "rule" ? [restraint.rule] : [],
  );
  const ignored = wishes.restraints.flatMap((restraint) =>
    restraint.kind === "ignore" ? [restraint.glob] : [],
  );
  return {
    ...configuration,
    approvals: {
      ...configuration.approvals,
      autoApproveBelow: upTo(
        configuration.approvals.autoApproveBelow,
        standing.approvals.autoApproveBelow,
        wishes.autoApproveBelow,
      ),
      rules: [...standing.approvals.rules, ...restraints, ...wishes.allowRules],
    },
    limits: { ...configuration.limits, ...limits },
    index: {
      hidden: configuration.index.hidden && (standing.index.hidden || wishes.showsHidden),
      ignore: [...new Set([...standing.index.ignore, ...ignored])],
    },
  };
}
