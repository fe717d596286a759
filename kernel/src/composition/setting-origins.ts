import { canonicalJson } from "../base/json.ts";
import type { ApprovalRule } from "../base/vocabulary/action.ts";
import type { Place } from "../base/vocabulary/common.ts";
import type { Origin, ResolvedConfiguration } from "../documents/resolve.ts";

/** Where approval rules and single settings are written in documents. */
export interface SettingOrigins {
  /** Null where no document has this rule. */
  rule(rule: ApprovalRule): Place | null;
  /** By its name, such as "approvals.expire_after"; null where the environment sets it. */
  setting(name: string): Place | null;
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
