import { canonicalJson } from "../base/json.ts";
import type { ApprovalRule } from "../base/vocabulary/approval-rule.ts";
import type { Place } from "../base/vocabulary/common.ts";
import type { Configuration } from "../documents/configuration.ts";
import type { Origin, ResolvedConfiguration } from "../documents/resolve.ts";

/** The places of approval rules and single settings in documents. */
export interface SettingOrigins {
  /** Returns null if no document contains this rule. */
  rule(rule: ApprovalRule): Place | null;
  /** Takes a name such as "approvals.expire_after"; returns null if the environment sets it. */
  setting(name: string): Place | null;
}

export interface RuleOrSetting {
  readonly rule?: ApprovalRule | undefined;
  /** By its name, such as "approvals.expire_after". */
  readonly setting?: string | undefined;
}

/** The settings of all documents, those of the user's own documents, and the places of both. */
interface AllSettings {
  readonly configuration: Configuration;
  readonly standing: Configuration;
  readonly origins: { readonly all: SettingOrigins; readonly standing: SettingOrigins };
}

/** Returns the place of a rule or setting in force; null if no document contains it. */
export function placeInForce(
  { origins, configuration, standing }: AllSettings,
  inForce: Configuration,
  { rule, setting }: RuleOrSetting,
): Place | null {
  if (rule !== undefined) return origins.all.rule(rule);
  if (setting === undefined) return null;
  // If the workspace's document requests more than is in force, the user's own value applies.
  const [now, requested, own] = [inForce, configuration, standing].map((each) => settingOf(each, setting));
  return now === requested || now !== own ? origins.all.setting(setting) : origins.standing.setting(setting);
}

function settingOf({ approvals }: Configuration, name: string): number | undefined {
  if (name === "approvals.auto_approve_below") return approvals.autoApproveBelow;
  if (name === "approvals.expire_after") return approvals.expireAfterMs;
  return undefined;
}

export function settingOrigins({
  origins,
  value,
}: Pick<ResolvedConfiguration, "origins" | "value">): SettingOrigins {
  const rules = new Map<string, Place>();
  for (const [index, rule] of value.approvals.rules.entries()) {
    const place = placeOf(origins.get(`/approvals/rules/${index}`));
    const key = canonicalJson(rule);
    if (place !== null && !rules.has(key)) rules.set(key, place);
  }
  return {
    rule: (rule) => rules.get(canonicalJson(rule)) ?? null,
    setting: (name) => placeOf(origins.get(`/${name.replaceAll(".", "/")}`)),
  };
}

function placeOf(origin: Origin | undefined): Place | null {
  if (origin?.file === undefined || origin.range === undefined) return null;
  return { path: origin.file, line: origin.range.start.line + 1 };
}
