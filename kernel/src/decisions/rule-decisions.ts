import { canonicalJson, isJsonObject } from "../base/json.ts";
import { isAskKind, type Ask } from "../base/vocabulary/ask.ts";
import type { ApprovalRule } from "../base/vocabulary/approval-rule.ts";

/**
 * A rule as stored in `decisions.yaml`: rules with the same id belong to one decision. A rule written by hand has
 * neither id nor time.
 */
export interface KeptRule extends ApprovalRule {
  readonly id?: string;
  /** UTC, ISO 8601. */
  readonly created?: string;
}

/** An answer to a question other than about a change, as stored in `decisions.yaml`. */
export interface KeptAnswer {
  readonly id: string;
  /** UTC, ISO 8601. */
  readonly created: string;
  readonly allow: boolean;
  readonly kind: Ask["kind"];
  /** Absent where it counts for every agent. */
  readonly agent?: string;
  readonly about: string;
}

/** The rules that a person decided together, or their answer to another question. */
export interface RuleDecision {
  /** For rules written by hand, derived from their contents, so that it stays the same. */
  readonly id: string;
  readonly created: string | null;
  /** Empty for an answer to another question. */
  readonly rules: readonly ApprovalRule[];
  readonly answer?: KeptAnswer;
  /** Index of its first rule in the file's list; null if it is not in the file. */
  readonly index: number | null;
  /** The rules as they are in the file. */
  readonly kept?: readonly KeptRule[];
  /** True if it ends when the last client disconnects. */
  readonly isSession: boolean;
}

/** Groups a file's rules into decisions, in the order of the file. */
export function groupRules(rules: readonly KeptRule[], digest: (text: string) => string): RuleDecision[] {
  const groups = new Map<string, { readonly index: number; readonly kept: KeptRule[] }>();
  for (const [index, rule] of rules.entries()) {
    const id = rule.id ?? `rule-${digest(canonicalJson(ruleOf(rule)))}`;
    const group = groups.get(id) ?? { index, kept: [] };
    groups.set(id, group);
    group.kept.push(rule);
  }
  return Array.from(groups, ([id, { index, kept }]) => ({
    id,
    index,
    kept,
    created: kept.find(({ created }) => created !== undefined)?.created ?? null,
    rules: kept.map(ruleOf),
    isSession: false,
  }));
}

export function answerDecision(answer: KeptAnswer): RuleDecision {
  const { id, created } = answer;
  return { id, created, rules: [], answer, index: null, isSession: false };
}

/** Returns the fields of a stored rule that policy needs. */
export function ruleOf({ decide, agent, kind, path }: KeptRule): ApprovalRule {
  return {
    decide,
    ...(agent === undefined ? {} : { agent }),
    ...(kind === undefined ? {} : { kind }),
    ...(path === undefined ? {} : { path }),
  };
}

export function isKeptRule(value: unknown): value is KeptRule {
  return isJsonObject(value) && isText(value["id"]) && isText(value["created"]) && isRule(value);
}

export function isKeptAnswer(value: unknown): value is KeptAnswer {
  return (
    isJsonObject(value) &&
    ["id", "created", "about"].every((field) => typeof value[field] === "string") &&
    typeof value["allow"] === "boolean" &&
    isAskKind(value["kind"]) &&
    isText(value["agent"])
  );
}

export function isRule(value: unknown): value is ApprovalRule {
  return (
    isJsonObject(value) &&
    ["deny", "ask", "allow"].includes(String(value["decide"])) &&
    isText(value["agent"]) &&
    isText(value["kind"]) &&
    isText(value["path"])
  );
}

function isText(field: unknown): boolean {
  return field === undefined || typeof field === "string";
}
