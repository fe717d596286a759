import { compileGlob, globLimits } from "../base/glob.ts";
import type { ApprovalRule, EffectKind } from "../base/vocabulary/action.ts";
import { kindMatches } from "./permissions.ts";
import type { Protection } from "./protected.ts";

/** An effect as the approval policy sees it. */
export interface ApprovalSubject {
  readonly kind: EffectKind;
  /** Every path it touches: both ends of a move; canonical. */
  readonly paths: readonly string[];
  /** The strictest protection of anything it touches. */
  readonly protection: Protection;
}

export interface ApprovalQuestion {
  readonly agent: string;
  readonly effects: readonly ApprovalSubject[];
  /** The whole action's, 0–1. */
  readonly impact: number;
  /** Sum over the last hour of what this agent's actions scored that were allowed for their impact alone. */
  readonly impactThisHour: number;
}

export interface ApprovalPolicy {
  readonly rules: readonly ApprovalRule[];
  /** 0: everything that changes files is asked. */
  readonly autoApproveBelow: number;
}

export interface ApprovalDecision {
  readonly decide: "deny" | "ask" | "allow";
  /** One sentence for the person and the trace. */
  readonly because: string;
  /** Allowed for its impact: counts into the agent's hour. */
  readonly byImpact: boolean;
}

/** What an action gets: the strictest decision of its effects. */
export function decideApproval(question: ApprovalQuestion, policy: ApprovalPolicy): ApprovalDecision {
  const rules = policy.rules.map(compileRule);
  let strictest: ApprovalDecision = { decide: "allow", because: "It changes nothing.", byImpact: false };
  let byImpact = false;
  for (const effect of question.effects) {
    const decision = decideEffect(effect, question, policy.autoApproveBelow, rules);
    byImpact ||= decision.byImpact;
    if (strictness[decision.decide] > strictness[strictest.decide]) strictest = decision;
    else if (strictest.because === "It changes nothing.") strictest = decision;
  }
  return { ...strictest, byImpact: strictest.decide === "allow" && byImpact };
}

const strictness = { allow: 0, ask: 1, deny: 2 } as const;

function decideEffect(
  effect: ApprovalSubject,
  question: ApprovalQuestion,
  threshold: number,
  rules: readonly CompiledRule[],
): ApprovalDecision {
  const ruled = (decide: ApprovalRule["decide"]): boolean =>
    rules.some((rule) => rule.decide === decide && rule.matches(question.agent, effect));
  const where = effect.paths.join(" → ");
  const answer = (
    decide: ApprovalDecision["decide"],
    because: string,
    byImpact = false,
  ): ApprovalDecision => ({
    decide,
    because,
    byImpact,
  });

  if (effect.protection === "forbidden") return answer("deny", `${where} is closed to every extension.`);
  if (ruled("deny")) return answer("deny", `A rule denies ${effect.kind} of ${where}.`);
  // Metadata lies beside a file, never in it: nothing that starts by itself reads it.
  if (effect.protection === "protected" && !isMetadata(effect.kind))
    return answer("ask", `${where} is protected: it is asked each time.`);
  if (ruled("ask")) return answer("ask", `A rule asks for ${effect.kind} of ${where}.`);
  if (ruled("allow")) return answer("allow", `A rule allows ${effect.kind} of ${where}.`);
  if (isMetadata(effect.kind)) return answer("allow", `${effect.kind} was granted.`);
  if (question.impact >= threshold) {
    return answer("ask", `Its impact ${question.impact} is not below ${threshold}.`);
  }
  const sum = question.impactThisHour + question.impact;
  if (sum >= threshold) {
    return answer(
      "ask",
      `With this one, the agent's impact within an hour would be ${sum.toFixed(4)}, not below ${threshold}.`,
    );
  }
  return answer("allow", `Its impact ${question.impact} is below ${threshold}.`, true);
}

function isMetadata(kind: EffectKind): boolean {
  return !kind.startsWith("file.") && !kind.startsWith("folder.");
}

interface CompiledRule {
  readonly decide: ApprovalRule["decide"];
  matches(agent: string, effect: ApprovalSubject): boolean;
}

/**
 * A rule that widens must match every path of the effect, in this very spelling; one that tightens needs
 * only one of them, in any case. A glob that does not compile widens nothing and tightens everything.
 */
function compileRule(rule: ApprovalRule): CompiledRule {
  const widens = rule.decide === "allow";
  let pathsMatch = (_paths: readonly string[]): boolean => true;
  if (rule.path !== undefined) {
    const glob = compileGlob(rule.path, { ignoreCase: !widens });
    if (!glob.ok) pathsMatch = () => !widens;
    else pathsMatch = (paths) => (widens ? paths.every(glob.matches) : paths.some(glob.matches));
  }
  return {
    decide: rule.decide,
    matches: (agent, effect) =>
      (rule.agent === undefined || rule.agent === agent) &&
      (rule.kind === undefined || kindMatches(rule.kind, effect.kind)) &&
      pathsMatch(effect.paths),
  };
}

/**
 * What "always" remembers: for each effect of the action, one rule that allows this agent this kind at
 * exactly these paths. Protected paths get none, nor does a path too long for a glob: they stay asked.
 */
export function alwaysRules(agent: string, effects: readonly ApprovalSubject[]): ApprovalRule[] {
  const rules: ApprovalRule[] = [];
  for (const effect of effects) {
    if (effect.protection !== "none") continue;
    const escaped = effect.paths.map(escapeGlob);
    const path = escaped.length === 1 ? String(escaped[0]) : `{${escaped.join(",")}}`;
    if (path.length <= globLimits.length) rules.push({ decide: "allow", agent, kind: effect.kind, path });
  }
  return rules;
}

/** The glob that matches this path and no other. */
export function escapeGlob(path: string): string {
  // Everything else stands for itself, so that most rules read like the path they are for.
  return path.replace(/[\\*?[\]{},]/g, "\\$&");
}
