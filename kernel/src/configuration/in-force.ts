import { visibleText } from "../base/visible-text.ts";
import { named } from "../base/named.ts";
import { plainLine } from "../base/plain-text.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import { isMindAlone } from "../decisions/mind-words.ts";
import type { DecisionStore } from "../decisions/store.ts";
import {
  describeRequests,
  covered,
  isCovered,
  describeRemovedRestraints,
  type AcceptedRequests,
  type RequestedPermissions,
} from "../decisions/requested-permissions.ts";
import type { CatalogEntry, CatalogSnapshot } from "./catalog-snapshot.ts";
import { onlyChangedPrograms } from "./changed-programs.ts";

/** The parts of the documents that are in force, given what the person has accepted. */
export interface InForce {
  readonly requests: RequestedPermissions;
  /** The extensions that may run, each with its accepted program. */
  readonly entries: readonly CatalogEntry[];
  /** Extensions that the user has not answered yet or has refused. */
  readonly waiting: readonly CatalogEntry[];
  /** The requests that a consent without parts would grant; empty if everything is answered. */
  readonly pendingAsks: readonly string[];
  /** Extensions of which only the changed program awaits consent; empty if other requests do too. */
  readonly changedPrograms: readonly string[];
}

/** The documents' requests to the user, as `lares/status` reports them. */
export interface TrustState {
  readonly digest: Hash;
  readonly asks: string[];
  readonly pending: string[];
  readonly changedPrograms: string[];
}

export function trustState({ digest, requests }: CatalogSnapshot, inForce: InForce): TrustState {
  return {
    digest,
    // Sentences for a person, with words of a document that may come from a stranger.
    asks: describeRequests(requests).map(plainLine),
    pending: inForce.pendingAsks.map(plainLine),
    changedPrograms: [...inForce.changedPrograms],
  };
}

/** Returns whether the person has accepted everything that the documents request now. */
export function isAccepted(snapshot: CatalogSnapshot, decisions: DecisionStore): boolean {
  return decisions.isAccepted(snapshot.digest) || isCovered(snapshot.requests, decisions.accepted);
}

/** Returns whether the person has accepted or withheld each thing that the documents request now. */
export function isAnswered(snapshot: CatalogSnapshot, decisions: DecisionStore): boolean {
  return (
    decisions.isAnswered(snapshot.digest) ||
    isCovered(withoutDeclined(snapshot, decisions), decisions.answered)
  );
}

function withoutDeclined({ requests }: CatalogSnapshot, { declined }: DecisionStore): RequestedPermissions {
  const extensions = Object.entries(requests.extensions).filter(([id]) => !declined.has(id));
  return { ...requests, extensions: Object.fromEntries(extensions) };
}

/**
 * Computes what is in force. While a changed program awaits consent, the accepted one continues to run if it is
 * still available (`running`), so that saving a file does not stop a user's agents.
 */
export function computeInForce(
  snapshot: CatalogSnapshot,
  decisions: DecisionStore,
  running: ReadonlyMap<string, CatalogEntry>,
): InForce {
  if (isAccepted(snapshot, decisions)) {
    return {
      requests: snapshot.requests,
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
  const requests = covered(
    { ...snapshot.requests, extensions: withPrograms(snapshot.requests, atHand) },
    accepted,
  );
  const isInForce = ({ id, configuration }: CatalogEntry): boolean =>
    !configuration.enabled || requests.extensions[id] !== undefined;
  return {
    requests,
    entries: atHand.filter(isInForce),
    waiting: snapshot.entries.filter((entry) => !isInForce(entry)),
    // Refused requests alone do not cause a new question. Once there is a new request, a consent without parts
    // grants them too.
    ...(isAnswered(snapshot, decisions)
      ? { pendingAsks: [], changedPrograms: [] }
      : {
          pendingAsks: newAsks(snapshot.requests, requests, accepted),
          changedPrograms: onlyChangedPrograms(withoutDeclined(snapshot, decisions), decisions.answered),
        }),
  };
}

function withPrograms(
  requests: RequestedPermissions,
  entries: readonly CatalogEntry[],
): RequestedPermissions["extensions"] {
  return Object.fromEntries(
    Object.entries(requests.extensions).map(([id, request]) => {
      const entry = entries.find((candidate) => candidate.id === id);
      return [id, { ...request, program: entry?.program.program?.digest ?? null }];
    }),
  );
}

/** Returns a sentence for each request that is not in force; a changed program is reported as such. */
function newAsks(
  requested: RequestedPermissions,
  inForce: RequestedPermissions,
  accepted: AcceptedRequests,
): string[] {
  const before = new Set(describeRequests(inForce));
  const programs = Object.entries(requested.extensions)
    .filter(
      ([id, request]) =>
        inForce.extensions[id] !== undefined && inForce.extensions[id].program !== request.program,
    )
    .map(
      ([id, request]) =>
        `${visibleText(named(request.name))} (${id}) has ${isMindAlone(request.behaviour) ? "a changed identity, prompt or skill" : "a changed program"}`,
    );
  return [
    ...describeRequests(requested, accepted).filter((sentence) => !before.has(sentence)),
    ...programs,
    ...describeRemovedRestraints(requested, inForce),
  ];
}
