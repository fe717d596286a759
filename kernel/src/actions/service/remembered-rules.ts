import { invalidParams } from "../../base/errors.ts";
import { canonicalJson } from "../../base/json.ts";
import type { RememberedRule } from "../../base/vocabulary/approval-rule.ts";
import type { ApprovalPolicy } from "../../policy/approval.ts";
import { exactRules, whyNotAlways } from "../../policy/scopes.ts";
import { wideningGlob } from "../../policy/globs.ts";
import type { Approval } from "../../base/vocabulary/action-requests.ts";
import type { ActionRecord } from "../action-record.ts";
import type { ActionPresenter } from "./presenter.ts";

/**
 * Returns the rules that an approval remembers. A person can only agree to what they were shown, so the rules must be
 * among the scopes of this action. InvalidParams if one is not, or if "always" would have no effect for one of the
 * chosen effects: nothing is dropped silently.
 */
export async function rememberedRules(
  record: ActionRecord,
  { remember, rules }: Approval,
  chosen: readonly number[],
  policy: ApprovalPolicy,
  presenter: ActionPresenter,
): Promise<readonly RememberedRule[]> {
  if (rules !== undefined) {
    if (remember === "once")
      throw invalidParams('`rules` and remember: "once" contradict each other. Leave one of them out.');
    await checkOffered(record, rules, chosen, presenter);
    return rules;
  }
  const { agent } = record.action;
  const all = await presenter.prepared(record);
  const subjects = all.filter((_subject, index) => chosen.includes(index));
  const why = whyNotAlways(agent, subjects, policy);
  if (why !== null)
    throw invalidParams(`"Always" would have no effect here. ${why} Approve it once instead.`);
  const exact = exactRules(agent, subjects);
  if (exact.length < subjects.length)
    throw invalidParams(`"Always" cannot be remembered for a path of this length. Approve it once instead.`);
  return exact;
}

async function checkOffered(
  record: ActionRecord,
  rules: readonly RememberedRule[],
  chosen: readonly number[],
  presenter: ActionPresenter,
): Promise<void> {
  const scopes = await presenter.scopes(record);
  const offered = new Set(scopes.flatMap((scope) => scope.rules.map((rule) => canonicalJson(rule))));
  const subjects = record.subjects.filter((_subject, index) => chosen.includes(index));
  for (const rule of rules) {
    if (!offered.has(canonicalJson(rule)))
      throw invalidParams(
        `The rule ${JSON.stringify(rule)} was not offered for this action. Pass rules of its \`scopes\` unchanged.`,
      );
    const matches = rule.path === undefined ? (): boolean => true : wideningGlob(rule.path);
    if (!subjects.some(({ kind, paths }) => kind === rule.kind && paths.every(matches)))
      throw invalidParams(
        `The rule ${JSON.stringify(rule)} covers none of the chosen effects. Leave it out, or choose its effect too.`,
      );
  }
}
