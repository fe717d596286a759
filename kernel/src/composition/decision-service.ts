import { isoTime, type Clock } from "../base/clock.ts";
import type { KeptBasis, Origin } from "../actions/person.ts";
import type { Decision } from "../base/vocabulary/action.ts";
import type { Place } from "../base/vocabulary/common.ts";
import type { RuleDecision } from "../decisions/rule-decisions.ts";
import type { DecisionStore } from "../decisions/store.ts";
import type { Database, Migration, Statement } from "../platform/database.ts";
import { decisionTitle } from "../policy/rule-words.ts";
import type { DecisionService } from "../server/ports.ts";
import type { Governor } from "./governor.ts";

export const decisionMigrations: readonly Migration[] = [
  {
    name: "decisions-1-uses",
    sql: `CREATE TABLE decision_uses (
      decision TEXT PRIMARY KEY, count INTEGER NOT NULL, last INTEGER NOT NULL
    ) WITHOUT ROWID, STRICT`,
  },
];

/**
 * Counts one use of each of these decisions. The statements join the transaction that stores the action which they decided, so
 * a count is as durable as the action and costs no write of its own.
 */
export function useStatements(origins: readonly Origin[], clock: Clock): readonly Statement[] {
  const ids = new Set(origins.flatMap(({ decision }) => (decision === undefined ? [] : [decision])));
  return Array.from(ids, (id) => ({
    sql: `INSERT INTO decision_uses (decision, count, last) VALUES (?, 1, ?)
          ON CONFLICT (decision) DO UPDATE SET count = count + 1, last = excluded.last`,
    params: [id, clock.now()],
  }));
}

/** Deletes the use counts of decisions that no longer exist. */
export async function tidyUses(database: Database, store: DecisionStore): Promise<void> {
  const ids = store.decisions.map(({ id }) => id);
  await database.batch([
    {
      sql: "DELETE FROM decision_uses WHERE decision NOT IN (SELECT value FROM json_each(?))",
      params: [JSON.stringify(ids)],
    },
  ]);
}

/** Where a rule or a setting is written, and to which decision a rule belongs. */
export function originOf(
  { store, file }: { readonly store: DecisionStore; readonly file: string },
  governor: Pick<Governor, "placeOf">,
  basis: Pick<KeptBasis, "rule" | "setting">,
): Origin {
  const decision = basis.rule === undefined ? null : store.decisionOf(basis.rule);
  const place = decision === null ? governor.placeOf(basis) : placeOf(store, file, decision);
  return {
    ...(place === null ? {} : { place }),
    ...(decision === null ? {} : { decision: decision.id }),
  };
}

function placeOf(store: DecisionStore, file: string, decision: RuleDecision): Place | null {
  const line = store.lineOf(decision);
  return line === null ? null : { path: file, line };
}

/** Creates the service that lists and revokes the person's "always" decisions, each with how often it was used. */
export function createDecisionService(
  { store, file }: { readonly store: DecisionStore; readonly file: string },
  database: Database,
): DecisionService {
  const described = (decision: RuleDecision, uses: ReadonlyMap<string, Use>): Decision => {
    const { id, created, rules, isSession } = decision;
    const agents = new Set(rules.map(({ agent }) => agent));
    const [agent] = agents;
    const shown = rules.map((rule) => (isSession ? { ...rule, until: "close" as const } : rule));
    const place = placeOf(store, file, decision);
    const use = uses.get(id);
    return {
      id,
      ...(agents.size === 1 && agent !== undefined ? { agent } : {}),
      title: decisionTitle(shown),
      rules: shown,
      ...(created === null ? {} : { created }),
      used: use?.count ?? 0,
      ...(use === undefined ? {} : { last_used: isoTime(use.last) }),
      ...(place === null ? {} : { place }),
    };
  };
  const uses = async (): Promise<ReadonlyMap<string, Use>> => {
    const rows = await database.query<Use & { decision: string }>("SELECT * FROM decision_uses");
    return new Map(rows.map((row) => [row.decision, row]));
  };
  return {
    changed: store.rulesChanged,
    list: async () => {
      const counted = await uses();
      return store.decisions.map((decision) => described(decision, counted));
    },
    revoke: async (id) => {
      const counted = await uses();
      const before = store.decisions.find((decision) => decision.id === id);
      const shown = before === undefined ? null : described(before, counted);
      const decision = await store.revokeDecision(id);
      await tidyUses(database, store);
      return shown ?? described(decision, counted);
    },
  };
}

interface Use {
  readonly count: number;
  readonly last: number;
}
