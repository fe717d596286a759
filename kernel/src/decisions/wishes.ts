import type { ApprovalRule } from "../base/vocabulary/action.ts";
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
  type NamespaceWish,
} from "./namespaces.ts";

/** What one extension would be allowed, were the document accepted as it stands. */
export interface ExtensionWish {
  readonly name: string;
  /**
   * Where it really comes from, links resolved, for the person who is asked: a name can be anybody's. Part of what is
   * accepted.
   */
  readonly origin: string;
  /** Digest over the program and everything bundled into it; null where it could not be prepared. */
  readonly program: Hash | null;
  readonly permissions: Permissions;
  readonly locations: readonly string[];
  /** What its agent does; see {@link Behaviour}. */
  readonly behaviour: Behaviour;
  /** Of `behaviour`'s canonical JSON. */
  readonly behaviourDigest: Hash;
  /** Files within the program that are no program source, and code from beside its folder. */
  readonly carries: readonly CarriedFile[];
}

export interface CarriedFile {
  /** Relative to the extension's folder. */
  readonly path: string;
  readonly bytes: number;
}

/**
 * An extension as it is kept with a yes. An earlier version of Lares kept no behaviour and no files: those yeses cover
 * no extension any more, and are asked once again.
 */
export interface AcceptedExtension extends Omit<ExtensionWish, "behaviour" | "behaviourDigest" | "carries"> {
  readonly behaviour?: KeptBehaviour;
  readonly carries?: readonly CarriedFile[];
  /** The files that the accepted program was made of; their contents are kept where there is room. */
  readonly sources?: readonly ProgramSource[];
}

/** A file that went into a program. */
export interface ProgramSource {
  /** Relative to the extension's folder. */
  readonly path: string;
  readonly hash: Hash;
}

/** All wishes of a person's yes, as they are kept. */
export interface AcceptedWishes extends Omit<Wishes, "extensions"> {
  readonly extensions: Readonly<Record<string, AcceptedExtension>>;
}

/** A setting of the workspace's document that is another than the person's own. */
export interface SettingWish {
  /** Names from the configuration's top. */
  readonly path: readonly string[];
  readonly value: JsonValue;
}

/**
 * Everything in a workspace's documents that widens what can happen to the person's files. It counts once a
 * person accepted it; what only tightens is not in here and counts at once.
 */
export interface Wishes {
  readonly extensions: Readonly<Record<string, ExtensionWish>>;
  /** Only the rules that allow. */
  readonly allowRules: readonly ApprovalRule[];
  /** Impact score; 0 where the document sets none, or none above the person's own. */
  readonly autoApproveBelow: number;
  /** Caps of the document that are above the person's own, by their names in the document. */
  readonly limits: Readonly<Record<string, number>>;
  /** All other settings that differ from the person's own. */
  readonly settings: readonly SettingWish[];
  /** List what is hidden, where the person's own configuration does not. */
  readonly showsHidden: boolean;
  /** Memories that agents may open besides their own. */
  readonly namespaces: readonly NamespaceWish[];
  /** What only tightens: rules that deny or ask, globs that are left out. To take one away is to widen. */
  readonly restraints: readonly Restraint[];
}

export type Restraint =
  { readonly kind: "rule"; readonly rule: ApprovalRule } | { readonly kind: "ignore"; readonly glob: string };

export const noWishes: Wishes = {
  extensions: {},
  allowRules: [],
  autoApproveBelow: 0,
  limits: {},
  settings: [],
  showsHidden: false,
  namespaces: [],
  restraints: [],
};

/** True where accepting `accepted` has already said yes to all of `wishes`. */
export function isCovered(wishes: Wishes, accepted: AcceptedWishes): boolean {
  return (
    wishes.autoApproveBelow <= accepted.autoApproveBelow &&
    wishes.allowRules.every((rule) => has(accepted.allowRules, rule)) &&
    Object.entries(wishes.limits).every(([name, value]) => value <= (accepted.limits[name] ?? 0)) &&
    wishes.settings.every((setting) => has(accepted.settings, setting)) &&
    (!wishes.showsHidden || accepted.showsHidden) &&
    wishes.namespaces.every((wish) => isNamespaceCovered(wish, accepted.namespaces)) &&
    accepted.restraints.every((restraint) => has(wishes.restraints, restraint)) &&
    Object.entries(wishes.extensions).every(([id, wish]) => {
      const before = accepted.extensions[id];
      return before !== undefined && isExtensionCovered(wish, before);
    })
  );
}

/** The behaviour that was accepted, as far as it is known: the whole of it, or that it is the same. */
export function knownBehaviour(wish: ExtensionWish, { behaviour }: AcceptedExtension): Behaviour | null {
  if (behaviour === undefined) return null;
  if (!("digest" in behaviour)) return behaviour;
  return behaviour.digest === wish.behaviourDigest ? wish.behaviour : null;
}

/** True if saying yes to `accepted` has said yes to all that the extension wishes now. */
export function isExtensionCovered(wish: ExtensionWish, accepted: AcceptedExtension): boolean {
  const behaviour = knownBehaviour(wish, accepted);
  return (
    // A program that cannot be prepared cannot run: there is nothing to accept.
    (wish.program === null || wish.program === accepted.program) &&
    wish.origin === accepted.origin &&
    behaviour !== null &&
    isBehaviourCovered(wish.behaviour, behaviour) &&
    wish.carries.every(({ path }) => accepted.carries?.some((file) => file.path === path) === true) &&
    wish.locations.every((location) =>
      accepted.locations.some((folder) => isWithinExactly(folder, location)),
    ) &&
    permissionNames.every((name) => {
      const asked = wish.permissions[name];
      return (
        asked === undefined || asked === false || isDetailCovered(asked, accepted.permissions[name] ?? null)
      );
    })
  );
}

/**
 * What counts while a wider document waits for its answer: of each wish the part that was accepted before.
 * An extension that is new, whose program changed, or that comes from elsewhere now, is not in it.
 */
export function covered(wishes: Wishes, accepted: AcceptedWishes): Wishes {
  const extensions: Record<string, ExtensionWish> = {};
  for (const [id, wish] of Object.entries(wishes.extensions)) {
    const before = accepted.extensions[id];
    if (before === undefined || wish.program !== before.program || wish.origin !== before.origin) continue;
    const behaviour = knownBehaviour(wish, before);
    if (behaviour === null) continue;
    extensions[id] = {
      ...wish,
      behaviour: coveredBehaviour(wish.behaviour, behaviour),
      permissions: commonPermissions(wish.permissions, before.permissions),
      locations: commonLocations(wish.locations, before.locations),
    };
  }
  return {
    extensions,
    allowRules: wishes.allowRules.filter((rule) => has(accepted.allowRules, rule)),
    autoApproveBelow: Math.min(wishes.autoApproveBelow, accepted.autoApproveBelow),
    limits: Object.fromEntries(
      Object.entries(wishes.limits).map(([name, value]) => [
        name,
        Math.min(value, accepted.limits[name] ?? 0),
      ]),
    ),
    settings: wishes.settings.flatMap(({ path }) =>
      accepted.settings.filter((before) => canonicalJson(before.path) === canonicalJson(path)),
    ),
    showsHidden: wishes.showsHidden && accepted.showsHidden,
    namespaces: coveredNamespaces(wishes.namespaces, accepted.namespaces),
    // Those of both: a new one counts at once, one that was taken away goes on counting.
    restraints: [
      ...wishes.restraints,
      ...accepted.restraints.filter((restraint) => !has(wishes.restraints, restraint)),
    ],
  };
}

/**
 * Returns whether a detail is accepted: a list if each of its items is accepted, any other detail only as a whole,
 * since the kernel cannot tell which of two is narrower.
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
 * The wishes as sentences a person is shown before saying yes. Where `accepted` is given, what an accepted extension does
 * is said by what changed of it. Every character can be seen; see `visibleText`.
 */
export function asks(wishes: Wishes, accepted: AcceptedWishes = noWishes): string[] {
  const sentences: string[] = [];
  for (const [id, wish] of Object.entries(wishes.extensions)) {
    const permissions = describePermissions(wish.permissions);
    const where =
      wish.locations.length === 0 ? "in no folder" : `in ${wish.locations.map(folderName).join(", ")}`;
    const what = permissions.length === 0 ? "asks for nothing" : `asks to ${permissions.join("; to ")}`;
    sentences.push(`${named(wish.name)} (${id}, ${wish.origin}) ${what}, ${where}`);
    sentences.push(...behaviourAsks(id, wish, accepted.extensions[id]));
    if (wish.carries.length > 0) {
      const files = wish.carries.map(({ path, bytes }) => `${named(path)} (${bytes} bytes)`);
      sentences.push(`the program of ${id} contains these files, and can read them: ${files.join(", ")}`);
    }
  }
  for (const rule of wishes.allowRules) {
    sentences.push(`the document allows without asking: ${describeRule(rule)}`);
  }
  if (wishes.autoApproveBelow > 0) {
    sentences.push(
      `the document approves by itself every change with an impact below ${wishes.autoApproveBelow}`,
    );
  }
  for (const [name, value] of Object.entries(wishes.limits)) {
    sentences.push(`the document raises the limit ${name} to ${value}`);
  }
  for (const { path, value } of wishes.settings) {
    sentences.push(`the document sets ${path.map(written).join(".")} to ${JSON.stringify(value)}`);
  }
  if (wishes.showsHidden) sentences.push("the document lists hidden files and folders too");
  sentences.push(...wishes.namespaces.map(describeNamespace));
  return sentences.map((sentence) => visibleText(sentence));
}

function behaviourAsks(id: string, wish: ExtensionWish, accepted: AcceptedExtension | undefined): string[] {
  const before = accepted === undefined ? null : knownBehaviour(wish, accepted);
  if (before !== null) {
    return behaviourChanges(wish.behaviour, before).map((change) => `${id} changed: ${change}`);
  }
  const now = describeBehaviour(wish.behaviour);
  const why =
    accepted === undefined
      ? []
      : [
          accepted.behaviour === undefined
            ? `what ${id} does is asked once again: an earlier version of Lares did not keep it with your yes`
            : `what ${id} does has changed; it was too long to be kept, so that the change cannot be shown`,
        ];
  return [...why, ...(now === null ? [] : [`${id} ${now}`])];
}

/** `expireAfterMs` as documents and people write it. */
export const written = (name: string): string =>
  named(name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));

/** What held back and is no longer in the document: a sentence each. */
export function takenAway(wishes: Wishes, inForce: Wishes): string[] {
  return inForce.restraints
    .filter((restraint) => !has(wishes.restraints, restraint))
    .map((restraint) =>
      restraint.kind === "ignore"
        ? `the document no longer leaves out ${named(restraint.glob)}`
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

export function folderName(location: string): string {
  return location === "." ? "the whole workspace" : named(`${location}/`);
}
