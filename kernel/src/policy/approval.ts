import { quotedText } from "../base/visible-text.ts";
import type { EffectKind } from "../base/vocabulary/action.ts";
import type { ApprovalRule } from "../base/vocabulary/approval-rule.ts";
import {
  allowingRule,
  type CompiledRule,
  compiled,
  restrainedPath,
  type RuleSubject,
} from "./compiled-rules.ts";
import type { Protection } from "./protected.ts";
import { ruleWords } from "./rule-words.ts";

/** An effect as the approval policy sees it. */
export interface ApprovalSubject extends RuleSubject {
  /** The strictest protection of anything it touches. */
  readonly protection: Protection;
  /** Why it is protected, as a sentence. */
  readonly whyProtected?: string;
  /** Why a person decides even if rules would allow it; a clause about the paths: "is hidden from the agent". */
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

/** The rules for an agent, and those of them that match an effect. */
interface Matches {
  readonly rules: readonly ApprovalRule[];
  readonly matching: readonly CompiledRule[];
}

/** The latest results for each effect: under the rules of its agent, and of those on whose behalf it acts. */
const prepared = new WeakMap<ApprovalSubject, readonly Matches[]>();
const maxPrepared = 10;

function preparedFor(effect: ApprovalSubject, rules: readonly ApprovalRule[]): Matches | undefined {
  return prepared.get(effect)?.find((matches) => isFor(matches, rules));
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
  const same = new Map<string, Matches>();
  for (const effect of effects) {
    if (preparedFor(effect, rules) !== undefined) continue;
    const { kind, paths, makes, members } = effect;
    const key = members === undefined ? JSON.stringify([kind, paths, makes]) : null;
    const matches = (key === null ? undefined : same.get(key)) ?? (yield* matchesOf(effect, rules));
    if (key !== null) same.set(key, matches);
    prepared.set(effect, [matches, ...(prepared.get(effect) ?? [])].slice(0, maxPrepared));
  }
}

function* matchesOf(effect: ApprovalSubject, rules: readonly ApprovalRule[]): Generator<void, Matches> {
  const matching: CompiledRule[] = [];
  for (const rule of rules) {
    yield;
    const made = compiled(rule);
    const isMatch =
      made.decide === "allow" ? yield* made.covers(effect) : (yield* made.search(effect)) !== null;
    if (isMatch) matching.push(made);
  }
  return { rules, matching };
}

function isFor(matches: Matches, rules: readonly ApprovalRule[]): boolean {
  return matches.rules.length === rules.length && matches.rules.every((rule, at) => rule === rules[at]);
}

function rulesOf(agent: string, { rules }: Pick<ApprovalPolicy, "rules">): readonly ApprovalRule[] {
  return rules.filter((rule) => rule.agent === undefined || rule.agent === agent);
}

/** Returns a function that finds the rules to check an effect by: the prepared matches, or else all rules. */
function rulesFinder(rules: readonly ApprovalRule[]): (effect: ApprovalSubject) => readonly CompiledRule[] {
  let all: readonly CompiledRule[] | null = null;
  return (effect) => preparedFor(effect, rules)?.matching ?? (all ??= rules.map(compiled));
}

/** Decides about an action: the strictest decision of its effects. */
export function decideApproval(question: ApprovalQuestion, policy: ApprovalPolicy): ApprovalDecision {
  const rulesFor = rulesFinder(rulesOf(question.agent, policy));
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

/** Ranks by strictness; among decisions that allow, a rule or the threshold explains more than a granted permission. */
function rank({ decide, basis }: EffectDecision): number {
  const says = basis.rule === undefined && basis.setting === undefined ? 0 : 1;
  return decide === "deny" ? 3 : decide === "ask" ? 2 : says;
}

interface EffectDecision {
  readonly decide: ApprovalDecision["decide"];
  readonly because: string;
  readonly basis: Basis;
  readonly byImpact: boolean;
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
  const { decide, basis } = decideByRules(agent, effect, policy);
  return decide === "ask" && basis.setting !== undefined;
}

/** Returns why a person decides about the effect even if rules would allow it; null if a rule can allow it. */
export function whyAskedEachTime(
  agent: string,
  effect: ApprovalSubject,
  policy: ApprovalPolicy,
): string | null {
  const { decide, basis } = decideByRules(agent, effect, policy);
  return decide === "allow" || basis.setting !== undefined ? null : basis.sentence;
}

/** Decides as if the impact were too large to be allowed for it alone. */
function decideByRules(agent: string, effect: ApprovalSubject, policy: ApprovalPolicy): EffectDecision {
  const question: ApprovalQuestion = { agent, effects: [], impact: 1, impactThisHour: 1 };
  return decideEffect(effect, question, 0, rulesFinder(rulesOf(agent, policy))(effect));
}

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
