import { globLimits } from "../base/glob.ts";
import { named } from "../base/named.ts";
import { visibleText } from "../base/visible-text.ts";
import type { EffectKind } from "../base/vocabulary/action.ts";
import {
  maxRulesPerScope,
  type ApprovalRule,
  type RememberedRule,
  type Scope,
  type ScopeId,
} from "../base/vocabulary/approval-rule.ts";
import { widens, whyAskedEachTime, type ApprovalPolicy, type ApprovalSubject } from "./approval.ts";
import { isWithinExactly, parentOf } from "./paths.ts";
import { changesOfAll } from "./rule-words.ts";

/** Kinds that can happen to a path only once: afterwards the same change is impossible there. */
const once: ReadonlySet<EffectKind> = new Set(["file.move", "file.delete", "folder.create"]);

/**
 * Determines, in steps of a few milliseconds, what "always" may remember about an action that waits for a person: each
 * of a thousand effects may yield its own rule. Run `prepareApproval` first. A rule is in a scope only if it would have
 * allowed an effect that is asked for lack of a rule, so no rule is offered for an effect that is asked each time.
 */
export function* scopesOf(
  agent: string,
  effects: readonly ApprovalSubject[],
  policy: ApprovalPolicy,
): Generator<void, Scope[]> {
  const scopes: Scope[] = [];
  for (const id of ["file", "folder", "kind", "session"] as const) {
    const rules = yield* rulesOf(id, agent, effects, policy);
    if (rules === null || rules.length === 0) continue;
    scopes.push({ id, title: titleOf(id, agent, rules), rules });
  }
  return scopes;
}

/**
 * Returns what "always" remembers if no scope is named: for each effect, one rule that allows this agent this kind at
 * exactly these paths. A path that is too long for a glob has no rule.
 */
export function exactRules(agent: string, effects: readonly ApprovalSubject[]): ApprovalRule[] {
  return effects.flatMap((effect) => {
    const path = anyOf(effect.paths.map(escapeGlob));
    return path.length > globLimits.length
      ? []
      : [{ decide: "allow" as const, agent, kind: effect.kind, path }];
  });
}

/** Returns why "always" would have no effect for one of the effects, as a sentence; null if it works for all. */
export function whyNotAlways(
  agent: string,
  effects: readonly ApprovalSubject[],
  policy: ApprovalPolicy,
): string | null {
  for (const effect of effects) {
    const why = whyAskedEachTime(agent, effect, policy);
    if (why !== null) return why;
  }
  return null;
}

/** Returns null if there are more rules than a person can read. */
function* rulesOf(
  id: ScopeId,
  agent: string,
  effects: readonly ApprovalSubject[],
  policy: ApprovalPolicy,
): Generator<void, RememberedRule[] | null> {
  const rules = new Map<string, RememberedRule>();
  for (const effect of effects) {
    yield;
    const rule = ruleOf(id, agent, effect);
    const key = JSON.stringify(rule);
    if (rule === null || rules.has(key) || !(yield* widens(agent, effect, policy, rule))) continue;
    rules.set(key, id === "session" ? { ...rule, until: "close" } : rule);
    if (rules.size > maxRulesPerScope) return null;
  }
  return [...rules.values()];
}

function ruleOf(id: ScopeId, agent: string, { kind, paths }: ApprovalSubject): ApprovalRule | null {
  const rule = { decide: "allow", agent, kind } as const;
  if (id === "kind") return rule;
  if (id === "file" && once.has(kind)) return null;
  const path = id === "file" ? anyOf(paths.map(escapeGlob)) : anyOf(outermost(paths).map(everythingIn));
  return path.length > globLimits.length ? null : { ...rule, path };
}

/** Returns the folders that contain the paths, without those that lie in another of them. */
function outermost(paths: readonly string[]): string[] {
  const folders = [...new Set(paths.map((path) => parentOf(path) ?? "."))];
  // The workspace's top stands only for what lies directly in it, so it contains none of the others.
  return folders.filter(
    (folder) => !folders.some((other) => other !== folder && other !== "." && isWithinExactly(other, folder)),
  );
}

function everythingIn(folder: string): string {
  return folder === "." ? "*" : `${escapeGlob(folder)}/**`;
}

function anyOf(globs: readonly string[]): string {
  return globs.length === 1 ? String(globs[0]) : `{${globs.join(",")}}`;
}

/** Returns the glob that matches exactly this path. */
export function escapeGlob(path: string): string {
  // All other characters are literal in globs, so most rules read like their path.
  return path.replace(/[\\*?[\]{},]/g, "\\$&");
}

function titleOf(id: ScopeId, agent: string, rules: readonly ApprovalRule[]): string {
  const changes = changesOfAll(rules);
  switch (id) {
    case "file":
      return `${rules.length === 1 ? "This file" : "These files"}: ${changes}`;
    case "folder":
      return `${rules.length === 1 ? "This folder" : "These folders"}: ${changes}`;
    case "kind":
      return `${rules.length === 1 ? "This kind" : "These kinds"}: ${changes} by ${visibleText(named(agent))}, anywhere`;
    case "session":
      return `Until you close Lares: ${changes}`;
  }
}
