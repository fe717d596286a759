import { isJsonObject } from "../base/json.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import { isKeptBehaviour } from "./behaviour.ts";
import { isRequestedNamespace } from "./namespaces.ts";
import {
  nothingRequested,
  type AcceptedExtension,
  type AcceptedRequests,
  type ProgramSource,
  type RequestedPermissions,
} from "./requested-permissions.ts";
import { isKeptAnswer, isKeptRule, isRule, type KeptAnswer, type KeptRule } from "./rule-decisions.ts";

/** Total characters of JSON for the behaviours of one acceptance; beyond that, behaviours are stored as digests. */
export const behaviourCharactersKept = 512 * 1024;

export interface Acceptance {
  readonly digest: Hash;
  readonly accepted: string;
  /** What the person granted; `wishes` is its name in the file. */
  readonly wishes: AcceptedRequests;
  /** The requests that the person was shown with it and did not grant; absent if there are none. */
  readonly withheld?: AcceptedRequests;
}

/** The files of the accepted programs, by extension. */
export type KeptSources = Readonly<Record<string, readonly ProgramSource[]>>;

export interface DecisionsFile {
  readonly version: 1;
  readonly trust: readonly Acceptance[];
  /** The digest that was accepted last and is in force, or that was revoked last. */
  readonly current: Hash | null;
  readonly rules: readonly KeptRule[];
  readonly answers: readonly KeptAnswer[];
}

export const emptyFile: DecisionsFile = { version: 1, trust: [], current: null, rules: [], answers: [] };

/** The comment at the top of `decisions.yaml`. */
export const heading = `# What you decided for this workspace. Lares writes it; you may edit it, and what you save counts at once.
# trust: documents you accepted, by digest. current: the one in force. rules: what you answered with "always" about
# changes; rules with the same id are one decision. A rule that you write needs neither id nor created.
# answers: what you answered with "always" to other questions.
`;

/** Returns the decisions in a parsed `decisions.yaml`. Throws an error that names the invalid field. */
export function decode(value: unknown): DecisionsFile {
  if (!isJsonObject(value) || value["version"] !== 1)
    throw new Error("it is not a decisions file of version 1");
  const trust = value["trust"] ?? [];
  const rules = value["rules"] ?? [];
  const answers = value["answers"] ?? [];
  const current = value["current"] ?? null;
  if (!Array.isArray(trust) || !trust.every(isAcceptance))
    throw new Error("`trust` is not a list of acceptances");
  if (!Array.isArray(rules) || !rules.every(isKeptRule)) throw new Error("`rules` is not a list of rules");
  if (!Array.isArray(answers) || !answers.every(isKeptAnswer))
    throw new Error("`answers` is not a list of answers");
  if (current !== null && typeof current !== "string") throw new Error("`current` is not a digest");
  return { version: 1, trust: trust.map(complete), current: current as Hash | null, rules, answers };
}

/**
 * Stores behaviours in full as long as there is room, the shortest first, so that a person can later be told what
 * changed.
 */
export function kept(requests: RequestedPermissions, sources: KeptSources = {}): AcceptedRequests {
  const sized = Object.entries(requests.extensions)
    .map(([id, { behaviour, behaviourDigest, ...request }]) => {
      return { id, request, behaviour, behaviourDigest, size: JSON.stringify(behaviour).length };
    })
    .toSorted((a, b) => a.size - b.size);
  let left = behaviourCharactersKept;
  const extensions: Record<string, AcceptedExtension> = {};
  for (const { id, request, behaviour, behaviourDigest, size } of sized) {
    left -= size;
    extensions[id] = {
      ...request,
      behaviour: left >= 0 ? behaviour : { digest: behaviourDigest },
      ...(sources[id] === undefined ? {} : { sources: sources[id] }),
    };
  }
  return { ...requests, extensions };
}

/** An acceptance that is no longer in force needs only its digest. */
export function withoutBehaviours(acceptance: Acceptance): Acceptance {
  const extensions = Object.fromEntries(
    Object.entries(acceptance.wishes.extensions).map(
      ([id, { behaviour: _behaviour, sources: _sources, ...request }]) => [id, request],
    ),
  );
  return { ...acceptance, wishes: { ...acceptance.wishes, extensions } };
}

/** Fills in what an acceptance of an earlier version lacks, as not granted. */
function complete(acceptance: Acceptance): Acceptance {
  const { withheld } = acceptance;
  return {
    ...acceptance,
    wishes: { ...nothingRequested, ...acceptance.wishes },
    ...(withheld === undefined ? {} : { withheld: { ...nothingRequested, ...withheld } }),
  };
}

function isAcceptance(value: unknown): value is Acceptance {
  if (!isJsonObject(value)) return false;
  return (
    typeof value["digest"] === "string" &&
    areRequestedPermissions(value["wishes"]) &&
    (value["withheld"] === undefined || areRequestedPermissions(value["withheld"]))
  );
}

function areRequestedPermissions(requests: unknown): boolean {
  return (
    isJsonObject(requests) &&
    isJsonObject(requests["extensions"]) &&
    Object.values(requests["extensions"]).every(
      (request) =>
        isJsonObject(request) &&
        isJsonObject(request["permissions"]) &&
        Array.isArray(request["locations"]) &&
        (request["behaviour"] === undefined || isKeptBehaviour(request["behaviour"])) &&
        (request["carries"] === undefined || isCarried(request["carries"])) &&
        (request["sources"] === undefined || areSources(request["sources"])),
    ) &&
    Array.isArray(requests["allowRules"]) &&
    requests["allowRules"].every(isRule) &&
    typeof requests["autoApproveBelow"] === "number" &&
    isJsonObject(requests["limits"]) &&
    Object.values(requests["limits"]).every((value) => typeof value === "number") &&
    typeof requests["showsHidden"] === "boolean" &&
    (requests["settings"] === undefined || isSettings(requests["settings"])) &&
    (requests["namespaces"] === undefined ||
      (Array.isArray(requests["namespaces"]) && requests["namespaces"].every(isRequestedNamespace))) &&
    Array.isArray(requests["restraints"]) &&
    requests["restraints"].every(isRestraint)
  );
}

function isCarried(value: unknown): boolean {
  return (
    Array.isArray(value) && value.every((file) => isJsonObject(file) && typeof file["path"] === "string")
  );
}

function areSources(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      (source) =>
        isJsonObject(source) &&
        typeof source["path"] === "string" &&
        /^sha256:[0-9a-f]{64}$/.test(String(source["hash"])),
    )
  );
}

function isSettings(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      (setting) =>
        isJsonObject(setting) &&
        Array.isArray(setting["path"]) &&
        setting["path"].every((name) => typeof name === "string"),
    )
  );
}

function isRestraint(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  return value["kind"] === "ignore" || value["kind"] === "untrusted"
    ? typeof value["glob"] === "string"
    : value["kind"] === "rule" && isRule(value["rule"]);
}

/** The content of `decisions.yaml`: its text, null if there is no file, or the reason why it cannot be read. */
export type DecisionsText = string | null | { readonly unusable: string };

/** True if two reads of the file had the same result. */
export function isSameText(one: DecisionsText, other: DecisionsText): boolean {
  return typeof one === "object" && typeof other === "object"
    ? one?.unusable === other?.unusable
    : one === other;
}
