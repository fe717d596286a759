import { finished } from "../base/steps.ts";
import { quotedText } from "../base/visible-text.ts";
import type { ApprovalRule, EffectKind } from "../base/vocabulary/action.ts";
import { isPlain, literalBase, restrainingGlob, wideningGlob } from "./globs.ts";
import { foldPath, isWithinExactly } from "./paths.ts";
import { kindMatches } from "./permissions.ts";
import type { Protection } from "./protected.ts";
import { ruleWords } from "./rule-words.ts";

/** An effect as the approval policy sees it. */
export interface ApprovalSubject {
  readonly kind: EffectKind;
  /** The paths that it names: both ends of a move; canonical. */
  readonly paths: readonly string[];
  /** Folders that it creates, or may create, on the way to these paths. */
  readonly makes?: readonly string[];
  /** The contents of a folder that is moved, relative to it: each lies at both ends. */
  readonly members?: readonly string[];
  /** The strictest protection of anything it touches. */
  readonly protection: Protection;
  /** Why it is protected, as a sentence. */
  readonly whyProtected?: string;
  /**
   * Why a person decides even if rules would allow it; a clause about the paths, such as "is hidden from the agent".
   */
  readonly alwaysAsked?: string;
}

export interface ApprovalQuestion {
  readonly agent: string;
  readonly effects: readonly ApprovalSubject[];
  /** The impact of the whole action, 0–1. */
  readonly impact: number;
  /** The sum of the impact of this agent's actions in the last hour that were allowed for their impact alone. */
  readonly impactThisHour: number;
}

export interface ApprovalPolicy {
  readonly rules: readonly ApprovalRule[];
  /** With 0, every change of files is asked. */
  readonly autoApproveBelow: number;
}

export interface ApprovalDecision {
  readonly decide: "deny" | "ask" | "allow";
  /** One sentence for the agent and the trace. Quotes no rule, because rules are the person's. */
  readonly because: string;
  readonly basis: Basis;
  /** Every rule that decided about one of its effects. */
  readonly rules: readonly ApprovalRule[];
  /** True if it was allowed for its impact; it then counts towards the agent's hour. */
  readonly byImpact: boolean;
}

/** The reason for a decision, for the person. */
export interface Basis {
  readonly sentence: string;
  /** The rule that decided, or that would have allowed it but does not apply. */
  readonly rule?: ApprovalRule;
  /** The setting that decided, by its name in the documents. */
  readonly setting?: "approvals.auto_approve_below";
}

/** The rules that apply to an agent; `bear` are those that restrain or cover an effect. */
interface Bearing {
  readonly rules: readonly ApprovalRule[];
  readonly bear: readonly CompiledRule[];
}

/** The latest results for each effect: under the rules of its agent, and of those on whose behalf it acts. */
const bearings = new WeakMap<ApprovalSubject, readonly Bearing[]>();
const maxBearings = 10;

function preparedFor(effect: ApprovalSubject, rules: readonly ApprovalRule[]): Bearing | undefined {
  return bearings.get(effect)?.find((bearing) => isFor(bearing, rules));
}

/**
 * Does the slow part of `decideApproval`, matching folders of thousands of files with hundreds of rules, in steps of a
 * few milliseconds. After all steps, `decideApproval` decides about the same effects, by the same rules, without delay.
 */
export function* prepareApproval(
  { agent, effects }: Pick<ApprovalQuestion, "agent" | "effects">,
  policy: Pick<ApprovalPolicy, "rules">,
): Generator<void, void> {
  const rules = rulesOf(agent, policy);
  // A proposal often changes one file a thousand times.
  const same = new Map<string, Bearing>();
  for (const effect of effects) {
    if (preparedFor(effect, rules) !== undefined) continue;
    const { kind, paths, makes, members } = effect;
    const key = members === undefined ? JSON.stringify([kind, paths, makes]) : null;
    const bearing = (key === null ? undefined : same.get(key)) ?? (yield* bearingOn(effect, rules));
    if (key !== null) same.set(key, bearing);
    bearings.set(effect, [bearing, ...(bearings.get(effect) ?? [])].slice(0, maxBearings));
  }
}

function* bearingOn(effect: ApprovalSubject, rules: readonly ApprovalRule[]): Generator<void, Bearing> {
  const bear: CompiledRule[] = [];
  for (const rule of rules) {
    yield;
    const made = compiled(rule);
    const bears =
      made.decide === "allow" ? yield* made.covers(effect) : (yield* made.search(effect)) !== null;
    if (bears) bear.push(made);
  }
  return { rules, bear };
}

function isFor(bearing: Bearing, rules: readonly ApprovalRule[]): boolean {
  return (
    bearing.rules === rules ||
    (bearing.rules.length === rules.length && bearing.rules.every((rule, at) => rule === rules[at]))
  );
}

function rulesOf(agent: string, { rules }: Pick<ApprovalPolicy, "rules">): readonly ApprovalRule[] {
  return rules.filter((rule) => rule.agent === undefined || rule.agent === agent);
}

/**
 * Returns a function that finds the rules that bear on an effect, using the prepared result as long as the rules are
 * the same.
 */
function bearingOf(rules: readonly ApprovalRule[]): (effect: ApprovalSubject) => readonly CompiledRule[] {
  let all: readonly CompiledRule[] | null = null;
  return (effect) => preparedFor(effect, rules)?.bear ?? (all ??= rules.map(compiled));
}

/** Decides about an action: the strictest decision of its effects. */
export function decideApproval(question: ApprovalQuestion, policy: ApprovalPolicy): ApprovalDecision {
  const rulesFor = bearingOf(rulesOf(question.agent, policy));
  let strictest: EffectDecision | null = null;
  let byImpact = false;
  const decided = new Set<ApprovalRule>();
  for (const effect of question.effects) {
    const decision = decideEffect(effect, question, policy.autoApproveBelow, rulesFor(effect));
    byImpact ||= decision.byImpact;
    if (decision.byRule !== undefined) decided.add(decision.byRule);
    if (strictest === null || rank(decision) > rank(strictest)) strictest = decision;
    if (strictest.decide === "deny") break;
  }
  const { decide, because, basis } = strictest ?? nothing;
  return { decide, because, basis, rules: [...decided], byImpact: decide === "allow" && byImpact };
}

/** Returns the first of the strictest decisions. If all allow, the result has the reasons of all of them. */
export function strictestOf(decisions: readonly ApprovalDecision[]): ApprovalDecision {
  const refusal =
    decisions.find(({ decide }) => decide === "deny") ?? decisions.find(({ decide }) => decide === "ask");
  if (refusal !== undefined) return refusal;
  return {
    ...(decisions[0] ?? nothing),
    rules: [...new Set(decisions.flatMap(({ rules }) => rules))],
    byImpact: decisions.some(({ byImpact }) => byImpact),
  };
}

const nothing = {
  decide: "allow",
  because: "It changes nothing.",
  basis: { sentence: "It changes nothing." },
} as const;

/**
 * Ranks by strictness; among decisions that allow, a rule or the threshold explains more than a granted permission.
 */
function rank({ decide, basis }: EffectDecision): number {
  const says = basis.rule === undefined && basis.setting === undefined ? 0 : 1;
  return decide === "deny" ? 3 : decide === "ask" ? 2 : says;
}

interface EffectDecision {
  readonly decide: ApprovalDecision["decide"];
  readonly because: string;
  readonly basis: Basis;
  readonly byImpact: boolean;
  /** The rule that decided. */
  readonly byRule?: ApprovalRule;
}

/**
 * Returns, in steps, whether `rule` would allow an effect that is asked only because no such rule exists, whatever its
 * impact. False for effects that are asked each time.
 */
export function* widens(
  agent: string,
  effect: ApprovalSubject,
  policy: ApprovalPolicy,
  rule: ApprovalRule,
): Generator<void, boolean> {
  if (!(yield* compiled(rule).covers(effect))) return false;
  const { decide, basis } = decideEffect(
    effect,
    riskiest(agent),
    0,
    bearingOf(rulesOf(agent, policy))(effect),
  );
  return decide === "ask" && basis.setting !== undefined;
}

/** Returns why a person decides about the effect even if rules would allow it; null if a rule can allow it. */
export function whyAskedEachTime(
  agent: string,
  effect: ApprovalSubject,
  policy: ApprovalPolicy,
): string | null {
  const { decide, basis } = decideEffect(
    effect,
    riskiest(agent),
    0,
    bearingOf(rulesOf(agent, policy))(effect),
  );
  return decide === "allow" || basis.setting !== undefined ? null : basis.sentence;
}

/** No action is small enough to be allowed for its impact. */
const riskiest = (agent: string): ApprovalQuestion => ({ agent, effects: [], impact: 1, impactThisHour: 1 });

function decideEffect(
  effect: ApprovalSubject,
  question: ApprovalQuestion,
  threshold: number,
  rules: readonly CompiledRule[],
): EffectDecision {
  const where = effect.paths.join(" → ");
  const reaching = (path: string): string => (effect.paths.includes(path) ? "" : `, which reaches ${path}`);
  const answer = (
    decide: ApprovalDecision["decide"],
    because: string,
    basis: Basis = { sentence: because },
    byImpact = false,
  ): EffectDecision => ({ decide, because, basis, byImpact });
  const byRule = (
    decide: ApprovalDecision["decide"],
    because: string,
    sentence: string,
    rule: ApprovalRule,
  ): EffectDecision => ({ ...answer(decide, because, { sentence, rule }), byRule: rule });
  /** Names the rule that would allow it, to explain why that rule does not apply. */
  const askedEachTime = (clause: string, why: string): EffectDecision => {
    const because = `${where} ${clause}: it is asked each time.`;
    const rule = allowingRule(rules, effect);
    const what = `${effect.paths.map(quotedText).join(" → ")} ${why}`;
    return rule === null
      ? answer("ask", because, { sentence: what })
      : answer("ask", because, {
          sentence: `Your rule allows it (${ruleWords(rule)}), but ${what}`,
          rule,
        });
  };

  if (effect.protection === "forbidden") return answer("deny", `${where} is closed to every extension.`);
  const denied = restrainedPath(rules, "deny", effect);
  if (denied !== null) {
    const because = `A rule denies ${effect.kind} of ${where}${reaching(denied.path)}.`;
    return byRule("deny", because, `Your rule refuses it: ${ruleWords(denied.rule)}.`, denied.rule);
  }
  // Metadata is stored beside a file, never in it, so nothing runs it automatically.
  if (effect.protection === "protected" && !isMetadata(effect.kind))
    return askedEachTime("is protected", `is asked each time: ${effect.whyProtected ?? "It is protected."}`);
  if (effect.alwaysAsked !== undefined)
    return askedEachTime(effect.alwaysAsked, `${effect.alwaysAsked}, so it is asked each time.`);
  const asked = restrainedPath(rules, "ask", effect);
  if (asked !== null) {
    const because = `A rule asks for ${effect.kind} of ${where}${reaching(asked.path)}.`;
    return byRule("ask", because, `Your rule asks about it: ${ruleWords(asked.rule)}.`, asked.rule);
  }
  const allowed = allowingRule(rules, effect);
  if (allowed !== null)
    return byRule(
      "allow",
      `A rule allows ${effect.kind} of ${where}.`,
      `By your rule: ${ruleWords(allowed)}.`,
      allowed,
    );
  if (isMetadata(effect.kind))
    return answer("allow", `${effect.kind} was granted.`, {
      sentence: "The permission for tags, fields and sidecars was granted, so it is not asked.",
    });
  return byThreshold(question, threshold, answer);
}

function byThreshold(
  { impact, impactThisHour }: ApprovalQuestion,
  threshold: number,
  answer: (decide: "ask" | "allow", because: string, basis: Basis, byImpact?: boolean) => EffectDecision,
): EffectDecision {
  const setting = "approvals.auto_approve_below";
  const written = `auto_approve_below: ${threshold}`;
  if (impact >= threshold) {
    const sentence =
      threshold === 0
        ? `Every change is asked (${written}).`
        : `Its impact ${impact} is not below ${threshold} (${written}).`;
    return answer("ask", `Its impact ${impact} is not below ${threshold}.`, { sentence, setting });
  }
  const sum = impactThisHour + impact;
  if (sum >= threshold) {
    const because = `With this one, the agent's impact within an hour would be ${sum.toFixed(4)}, not below ${threshold}.`;
    const sentence = `${because.slice(0, -1)} (${written}).`;
    return answer("ask", because, { sentence, setting });
  }
  const because = `Its impact ${impact} is below ${threshold}.`;
  return answer("allow", because, { sentence: `${because.slice(0, -1)} (${written}).`, setting }, true);
}

function isMetadata(kind: EffectKind): boolean {
  return !kind.startsWith("file.") && !kind.startsWith("folder.");
}

interface CompiledRule {
  readonly rule: ApprovalRule;
  readonly decide: ApprovalRule["decide"];
  /**
   * For deny and ask: searches, in steps, for a path that the rule matches; null if it matches nothing that the effect
   * touches.
   */
  search(effect: ApprovalSubject): Generator<void, string | null>;
  /** For allow: returns, in steps, whether the rule matches everything that the effect touches. */
  covers(effect: ApprovalSubject): Generator<void, boolean>;
}

/** Members of a folder that are matched with one glob per step. */
const membersPerStep = 250;

function restrainedPath(
  rules: readonly CompiledRule[],
  decide: "deny" | "ask",
  effect: ApprovalSubject,
): { readonly path: string; readonly rule: ApprovalRule } | null {
  for (const rule of rules) {
    const path = rule.decide === decide ? finished(rule.search(effect)) : null;
    if (path !== null) return { path, rule: rule.rule };
  }
  return null;
}

function allowingRule(rules: readonly CompiledRule[], effect: ApprovalSubject): ApprovalRule | null {
  return rules.find((rule) => rule.decide === "allow" && finished(rule.covers(effect)))?.rule ?? null;
}

// The person's rules are needed for every proposal and rarely change.
const compiledRules = new WeakMap<ApprovalRule, CompiledRule>();

function compiled(rule: ApprovalRule): CompiledRule {
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
