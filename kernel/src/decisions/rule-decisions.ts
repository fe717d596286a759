import { canonicalJson, isJsonObject } from "../base/json.ts";
import type { ApprovalRule } from "../base/vocabulary/action.ts";

/** A rule as `decisions.yaml` has it: rules with the same id are one decision. A rule written by hand has neither. */
export interface KeptRule extends ApprovalRule {
  readonly id?: string;
  /** UTC, ISO 8601. */
  readonly created?: string;
}

/** What a person said at once. */
export interface RuleDecision {
  /** Of rules written by hand it is made from what they say, so that it stays the same. */
  readonly id: string;
  readonly created: string | null;
  readonly rules: readonly ApprovalRule[];
  /** Place of its first rule in the file's list; null where it is not in the file. */
  readonly index: number | null;
  /** As they are in the file. */
  readonly kept?: readonly KeptRule[];
  /** It ends with the last client. */
  readonly isSession: boolean;
}

/** Returns the decisions that a file's rules are, in the file's order. */
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

/** Returns what policy needs of a kept rule. */
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
