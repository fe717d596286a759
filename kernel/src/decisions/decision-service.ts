import { checkPerson } from "../base/vocabulary/principal.ts";
import { isoTime } from "../base/clock.ts";
import type { Decision } from "../base/vocabulary/approval-rule.ts";
import type { Place } from "../base/vocabulary/common.ts";
import type { RuleDecision } from "./rule-decisions.ts";
import type { DecisionStore } from "./store.ts";
import type { DecisionUse, DecisionUses } from "./uses.ts";
import { answerTitle } from "./answer-words.ts";
import { decisionTitle } from "../policy/rule-words.ts";
import type { DecisionService } from "../services/ports.ts";

/** Returns where a decision stands in the file; null if it does not. */
export function placeOf(store: DecisionStore, file: string, decision: RuleDecision): Place | null {
  const line = store.lineOf(decision);
  return line === null ? null : { path: file, line };
}

/** Creates the service that lists and revokes the user's "always" decisions, each with its number of uses. */
export function createDecisionService(
  { store, file }: { readonly store: DecisionStore; readonly file: string },
  uses: DecisionUses,
): DecisionService {
  const described = (decision: RuleDecision, counted: ReadonlyMap<string, DecisionUse>): Decision => {
    const { id, created, rules, answer, isSession } = decision;
    const agents = new Set(answer === undefined ? rules.map(({ agent }) => agent) : [answer.agent]);
    const [agent] = agents;
    const shown = rules.map((rule) => (isSession ? { ...rule, until: "close" as const } : rule));
    const place = placeOf(store, file, decision);
    const use = counted.get(id);
    return {
      id,
      ...(agents.size === 1 && agent !== undefined ? { agent } : {}),
      title: answer === undefined ? decisionTitle(shown) : answerTitle(answer),
      rules: shown,
      ...(created === null ? {} : { created }),
      used: use?.count ?? 0,
      ...(use === undefined ? {} : { last_used: isoTime(use.last) }),
      ...(place === null ? {} : { place }),
    };
  };
  return {
    changed: store.rulesChanged,
    list: async () => {
      const counted = await uses.read();
      return store.decisions.map((decision) => described(decision, counted));
    },
    revoke: async (by, id) => {
      checkPerson(by, "revoke a decision");
      const counted = await uses.read();
      const before = store.decisions.find((decision) => decision.id === id);
      const shown = before === undefined ? null : described(before, counted);
      const decision = await store.revokeDecision(id);
      await uses.keepOnly(store.decisions.map(({ id }) => id));
      return shown ?? described(decision, counted);
    },
  };
}
