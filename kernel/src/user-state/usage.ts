import { isLaresError, storageError } from "../base/errors.ts";
import type { UsageGrouping } from "../base/vocabulary/usage.ts";
import type { SqlValue, Statement } from "../platform/database/database.ts";
import type { UserState } from "./user-state.ts";

/** Number of days for which usage is kept. */
const keptDays = 400;
const dayMs = 24 * 60 * 60 * 1000;

/**
 * What is counted of a single report at most, in tokens and in millionths of a dollar: a provider that reports more would
 * otherwise fill the sums beyond what can be read, for as long as they are kept. No answer costs as much.
 */
const mostCounted = 1_000_000_000;

/** The originator of a request; an empty text means none. */
interface UsageSubject {
  /** UTC, "2026-11-23". */
  readonly day: string;
  readonly model: string;
  readonly agent: string;
  readonly conversation: string;
}

/** The upper estimate of a request. `microUsd`: null if the price of the model is unknown. */
interface UsageEstimate {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly microUsd: number | null;
}

/**
 * The usage of a request as the provider reports it. `inputTokens` excludes cached tokens, `outputTokens` includes
 * reasoning.
 */
export interface UsageReport extends UsageEstimate {
  readonly reasoningTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

/** Dollars in integer millionths; a missing budget has no limit. */
interface Budgets {
  readonly perDayMicroUsd?: number;
  readonly perDayTokens?: number;
  readonly perConversationMicroUsd?: number;
  readonly perAgentPerDayMicroUsd?: number;
}

/** A budget that is used up, by its name in the document. In millionths of a dollar, or in tokens. */
interface ExceededBudget {
  readonly budget: "per_day_usd" | "per_day_tokens" | "per_conversation_usd" | "per_agent_per_day_usd";
  readonly spent: number;
  readonly limit: number;
}

interface UsageSum {
  readonly key: string;
  readonly requests: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly reasoning_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  /** Null if no request had a known price. */
  readonly micro_usd: number | null;
}

const tokens = "input_tokens + output_tokens + cache_read_tokens + cache_write_tokens";

interface BudgetQuery {
  readonly budget: ExceededBudget["budget"];
  readonly limit: number;
  readonly amount: number;
  readonly sql: string;
  readonly params: readonly SqlValue[];
}

/** The budgets that apply to a request, each with the query for its use so far, including unsettled reservations. */
function budgetQueries(subject: UsageSubject, estimate: UsageEstimate, budgets: Budgets): BudgetQuery[] {
  const usd = estimate.microUsd ?? 0;
  const all: (Omit<BudgetQuery, "limit"> & { readonly limit: number | undefined })[] = [
    {
      budget: "per_day_usd",
      limit: budgets.perDayMicroUsd,
      amount: usd,
      sql: "SELECT coalesce(sum(micro_usd), 0) AS spent FROM spent WHERE day = ?",
      params: [subject.day],
    },
    {
      budget: "per_day_tokens",
      limit: budgets.perDayTokens,
      amount: estimate.inputTokens + estimate.outputTokens,
      sql: `SELECT coalesce(sum(${tokens}), 0) AS spent FROM spent WHERE day = ?`,
      params: [subject.day],
    },
    {
      budget: "per_conversation_usd",
      limit: subject.conversation === "" ? undefined : budgets.perConversationMicroUsd,
      amount: usd,
      sql: "SELECT coalesce(sum(micro_usd), 0) AS spent FROM spent WHERE conversation = ?",
      params: [subject.conversation],
    },
    {
      budget: "per_agent_per_day_usd",
      limit: subject.agent === "" ? undefined : budgets.perAgentPerDayMicroUsd,
      amount: usd,
      sql: "SELECT coalesce(sum(micro_usd), 0) AS spent FROM spent WHERE day = ? AND agent = ?",
      params: [subject.day, subject.agent],
    },
  ];
  return all.flatMap((query) => (query.limit === undefined ? [] : [{ ...query, limit: query.limit }]));
}

export type Usage = ReturnType<typeof usage>;

/** Reservations, usage and budgets, with all SQL of their tables. */
export function usage(state: UserState) {
  /** A request must not wait for the disk, nor its answer; what is counted survives the death of every process. */
  const batch = (statements: readonly Statement[]) => state.batch(statements, "process");
  /** The day on which old days were deleted last. */
  let tidied = "";
  const forgetOld = async (today: string): Promise<void> => {
    const oldest = new Date(Date.parse(today) - keptDays * dayMs).toISOString().slice(0, 10);
    await batch([
      { sql: "DELETE FROM usage WHERE day < ?", params: [oldest] },
      { sql: "DELETE FROM reservations WHERE day < ?", params: [oldest] },
    ]);
    tidied = today;
  };
  return {
    /**
     * Reserves the estimate under `id` and returns null if every budget has enough left; otherwise returns the first
     * budget that has not. One statement, so that two kernels cannot both take the rest. The first request of a day
     * deletes what is older than the days that are kept.
     */
    async reserve(
      id: string,
      subject: UsageSubject,
      estimate: UsageEstimate,
      budgets: Budgets,
    ): Promise<ExceededBudget | null> {
      refuseUncountable([estimate.inputTokens, estimate.outputTokens, estimate.microUsd ?? 0]);
      if (subject.day > tidied) await forgetOld(subject.day);
      const queries = budgetQueries(subject, estimate, budgets);
      const conditions = queries.map(({ sql }) => `(${sql}) + ? <= ?`);
      try {
        await batch([
          {
            sql: `INSERT INTO reservations (id, day, model, agent, conversation, input_tokens, output_tokens, micro_usd)
              SELECT ?, ?, ?, ?, ?, ?, ?, ? WHERE ${conditions.join(" AND ") || "TRUE"}`,
            params: [
              id,
              subject.day,
              subject.model,
              subject.agent,
              subject.conversation,
              estimate.inputTokens,
              estimate.outputTokens,
              estimate.microUsd,
              ...queries.flatMap(({ params, amount, limit }) => [...params, amount, limit]),
            ],
            expectChanges: 1,
          },
        ]);
        return null;
      } catch (error) {
        if (!isLaresError(error, "Conflict")) throw error;
        for (const { budget, sql, params, amount, limit } of queries) {
          const [row] = await state.query<{ spent: number }>(sql, params);
          if (row !== undefined && row.spent + amount > limit) return { budget, spent: row.spent, limit };
        }
        // The budget was freed meanwhile, or the id exists already.
        throw error;
      }
    },

    /** Replaces the reservation by the actual usage. Conflict if it was settled or released before. */
    async settle(id: string, report: UsageReport): Promise<void> {
      const counts = [
        report.inputTokens,
        report.outputTokens,
        report.reasoningTokens,
        report.cacheReadTokens,
        report.cacheWriteTokens,
      ].map((count) => Math.min(count, mostCounted));
      const microUsd = report.microUsd === null ? null : Math.min(report.microUsd, mostCounted);
      refuseUncountable([...counts, microUsd ?? 0]);
      await batch([
        {
          sql: `INSERT INTO usage (day, model, agent, conversation, requests, input_tokens, output_tokens,
              reasoning_tokens, cache_read_tokens, cache_write_tokens, micro_usd)
            SELECT day, model, agent, conversation, 1, ?, ?, ?, ?, ?, ? FROM reservations WHERE id = ?
            ON CONFLICT DO UPDATE SET requests = requests + 1,
              input_tokens = input_tokens + excluded.input_tokens,
              output_tokens = output_tokens + excluded.output_tokens,
              reasoning_tokens = reasoning_tokens + excluded.reasoning_tokens,
              cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens,
              cache_write_tokens = cache_write_tokens + excluded.cache_write_tokens,
              micro_usd = CASE WHEN micro_usd IS NULL THEN excluded.micro_usd
                ELSE micro_usd + coalesce(excluded.micro_usd, 0) END`,
          params: [...counts, microUsd, id],
          expectChanges: 1,
        },
        { sql: "DELETE FROM reservations WHERE id = ?", params: [id], expectChanges: 1 },
      ]);
    },

    /** Removes a reservation if nothing was sent. Conflict if it was settled or released before. */
    async release(id: string): Promise<void> {
      await batch([{ sql: "DELETE FROM reservations WHERE id = ?", params: [id], expectChanges: 1 }]);
    },

    /**
     * Returns sums, sorted by key, of the days from `since` through `until`. An unsettled reservation counts in full.
     */
    sums(
      groupBy: UsageGrouping,
      range: { readonly since?: string; readonly until?: string } = {},
    ): Promise<readonly UsageSum[]> {
      return state.query<UsageSum>(
        `SELECT ${groupBy} AS key, sum(requests) AS requests, sum(input_tokens) AS input_tokens,
          sum(output_tokens) AS output_tokens, sum(reasoning_tokens) AS reasoning_tokens,
          sum(cache_read_tokens) AS cache_read_tokens, sum(cache_write_tokens) AS cache_write_tokens,
          sum(micro_usd) AS micro_usd
        FROM spent WHERE day >= ? AND day <= ? GROUP BY 1 ORDER BY 1`,
        [range.since ?? "", range.until ?? "9"],
      );
    },
  };
}

/** The budgets and sums take whole numbers of at least 0. */
function refuseUncountable(counts: readonly number[]): void {
  const wrong = counts.find((count) => !Number.isSafeInteger(count) || count < 0);
  if (wrong !== undefined)
    throw storageError(`Usage must be whole numbers of at least 0; got ${wrong}. Nothing was recorded.`);
}
