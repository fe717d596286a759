import { finished } from "../base/steps.ts";
import type { EffectKind } from "../base/vocabulary/action.ts";
import type { ApprovalRule } from "../base/vocabulary/approval-rule.ts";
import { isPlain, literalBase, restrainingGlob, wideningGlob } from "./globs.ts";
import { foldPath, isWithinExactly } from "./paths.ts";
import { kindMatches } from "./permissions.ts";

/** An effect as rules match it. */
export interface RuleSubject {
  readonly kind: EffectKind;
  /** The paths that it names: both ends of a move; canonical. */
  readonly paths: readonly string[];
  /** Folders that it creates, or may create, on the way to these paths. */
  readonly makes?: readonly string[];
  /** The contents of a folder that is moved, relative to it: each lies at both ends. */
  readonly members?: readonly string[];
}

export interface CompiledRule {
  readonly rule: ApprovalRule;
  readonly decide: ApprovalRule["decide"];
  /**
   * For deny and ask: searches, in steps, for a path that the rule matches; null if it matches nothing that the effect
   * touches.
   */
  search(effect: RuleSubject): Generator<void, string | null>;
  /** For allow: returns, in steps, whether the rule matches everything that the effect touches. */
  covers(effect: RuleSubject): Generator<void, boolean>;
}

/** Members of a folder that are matched with one glob per step. */
const membersPerStep = 250;

export function restrainedPath(
  rules: readonly CompiledRule[],
  decide: "deny" | "ask",
  effect: RuleSubject,
): { readonly path: string; readonly rule: ApprovalRule } | null {
  for (const rule of rules) {
    const path = rule.decide === decide ? finished(rule.search(effect)) : null;
    if (path !== null) return { path, rule: rule.rule };
  }
  return null;
}

export function allowingRule(rules: readonly CompiledRule[], effect: RuleSubject): ApprovalRule | null {
  return rules.find((rule) => rule.decide === "allow" && finished(rule.covers(effect)))?.rule ?? null;
}

// The person's rules are needed for every proposal and rarely change.
const compiledRules = new WeakMap<ApprovalRule, CompiledRule>();

export function compiled(rule: ApprovalRule): CompiledRule {
  const known = compiledRules.get(rule);
  if (known !== undefined) return known;
  const made = rule.decide === "allow" ? allowing(rule) : restraining(rule, rule.decide);
  compiledRules.set(rule, made);
  return made;
}

/**
 * A rule that allows must match everything that the effect touches, in exactly this spelling. It also covers creating
 * the folders that it names literally: what is allowed in "notes/**" may create "notes".
 */
function allowing(rule: ApprovalRule): CompiledRule {
  const matches = rule.path === undefined ? (): boolean => true : wideningGlob(rule.path);
  const base = literalBase(rule.path ?? "**");
  return {
    rule,
    decide: "allow",
    *search() {
      yield;
      return null;
    },
    *covers({ kind, paths, makes = [], members = [] }) {
      const coversWhatIsNamed =
        (rule.kind === undefined || kindMatches(rule.kind, kind)) &&
        paths.every(matches) &&
        makes.every((folder) => matches(folder) || isWithinExactly(folder, base));
      if (!coversWhatIsNamed || rule.path === undefined) return coversWhatIsNamed;
      for (const end of paths) {
        for (let at = 0; at < members.length; at += membersPerStep) {
          const some = members.slice(at, at + membersPerStep);
          if (!some.every((member) => matches(`${end}/${member}`))) return false;
          yield;
        }
      }
      return true;
    },
  };
}

/**
 * A rule that restrains applies if it matches anything that the effect touches, in any spelling. It applies to a moved
 * folder if it names anything beneath it, before or after the move, whether or not that exists.
 */
function restraining(rule: ApprovalRule, decide: "deny" | "ask"): CompiledRule {
  const glob = rule.path === undefined ? null : restrainingGlob(rule.path);
  const isOf = (kind: string): boolean => rule.kind === undefined || kindMatches(rule.kind, kind);
  return {
    rule,
    decide,
    *covers() {
      yield;
      return false;
    },
    *search({ kind, paths, makes = [], members }) {
      const isMeant = isOf(kind);
      if (glob === null)
        return isMeant || (makes.length > 0 && isOf("folder.create")) ? (paths[0] ?? "") : null;
      if (isMeant || isOf("folder.create")) {
        const made = makes.find(glob.matches);
        if (made !== undefined) return made;
      }
      if (!isMeant) return null;
      const named = paths.find(glob.matches);
      if (named !== undefined) return named;
      if (members === undefined) return null;
      for (const end of paths) {
        const folder = foldPath(end);
        if (glob.base !== "." && isWithinExactly(folder, glob.base)) return end;
        // If the glob matches only elsewhere, the members need not be examined.
        if (!isWithinExactly(glob.base, folder)) continue;
        const all = membersAt(end, members);
        const reaches = ({ path, key }: MemberPath): boolean =>
          (key === null || key.includes(glob.word)) && glob.matches(path);
        for (let at = 0; at < all.length; at += membersPerStep) {
          const found = all.slice(at, at + membersPerStep).find(reaches);
          if (found !== undefined) return found.path;
          yield;
        }
      }
      return null;
    },
  };
}

interface MemberPath {
  readonly path: string;
  /** In lower case; null if that is not all that folding would do. */
  readonly key: string | null;
}

// A folder of thousands of files is matched with hundreds of rules: searching a path for a word costs a hundredth of
// matching a glob.
const memberPaths = new WeakMap<readonly string[], Map<string, readonly MemberPath[]>>();

function membersAt(end: string, members: readonly string[]): readonly MemberPath[] {
  const ends = memberPaths.get(members) ?? new Map<string, readonly MemberPath[]>();
  memberPaths.set(members, ends);
  const known = ends.get(end);
  if (known !== undefined) return known;
  const made = members.map((member) => {
    const path = `${end}/${member}`;
    return { path, key: isPlain(path) ? path.toLowerCase() : null };
  });
  ends.set(end, made);
  return made;
}
