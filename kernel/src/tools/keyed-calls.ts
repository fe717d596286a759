import type { Clock } from "../base/clock.ts";
import {
  type ErrorCode,
  type ErrorFacts,
  invalidParams,
  isLaresError,
  LaresError,
  limitExceeded,
} from "../base/errors.ts";
import { canonicalJson } from "../base/json.ts";
import { bothForeign, type Foreign, isForeign, nothingForeign } from "../base/vocabulary/foreign.ts";
import { OneAtATime } from "../base/one-at-a-time.ts";
import { redactedMark } from "../base/without-texts.ts";
import type { Database, Migration, Statement } from "../platform/database/database.ts";
import { redactColumns, type TextColumns } from "../platform/database/text-columns.ts";
import { failpoint } from "../platform/failpoint.ts";
import { sha256 } from "../platform/files/hash.ts";
import type { GuestToolResult } from "./tool-result.ts";

export const keyedCallMigrations: readonly Migration[] = [
  {
    name: "tool-calls-1",
    // `outcome` is JSON; null: the handler has begun but has not answered.
    sql: `CREATE TABLE tool_calls (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            caller TEXT NOT NULL,
            key TEXT NOT NULL,
            digest TEXT NOT NULL,
            began INTEGER NOT NULL,
            outcome TEXT,
            UNIQUE (caller, key)
          ) STRICT;`,
  },
];

/** The columns that a redaction cleans in outcomes of calls. `digest` is a hash of the arguments. */
export const keyedCallTexts: readonly TextColumns[] = [
  {
    table: "tool_calls",
    key: ["seq"],
    columns: { caller: "none", key: "none", digest: "none", outcome: "json" },
  },
];

/** The outcome of a call whose text a person had removed. */
const removed: GuestToolResult = { status: "success", value: redactedMark };

/** Ended calls with a key that are kept per caller; the oldest are deleted first. */
export const maxKeptCalls = 1000;
/** Bytes of their outcomes per caller; the newest is always kept. */
export const maxKeptBytes = 16 * 1024 * 1024;

/** The outcome of a call that had begun when its kernel ended. */
export const interrupted: GuestToolResult = {
  status: "error",
  message: "interrupted; whether it took effect is unknown",
  recoverable: false,
};

/** A call that its caller identified by a key. */
export interface KeyedCall {
  readonly caller: string;
  readonly key: string;
  /** Any JSON that identifies the call: another call must not have the same key. */
  readonly identity: unknown;
  /** The number of calls that led to it. */
  readonly depth: number;
}

interface KeptError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly facts: ErrorFacts;
}
type Outcome = ({ readonly result: GuestToolResult } | { readonly error: KeptError }) & {
  /** Present if it may hold texts that nobody vouches for. */
  readonly foreign?: Foreign;
};

type Hear = (foreign: Foreign) => void;

/**
 * Calls of tools with a key from the caller: each runs once, and a repeated one gets the outcome of the first. The
 * begin of a handler is stored before it is called, and its outcome before the caller is answered; both survive the
 * death of any process.
 */
export class KeyedCalls {
  readonly #database: Database;
  readonly #clock: Clock;
  /** Repeated calls wait for the first; callers have a limited number of open calls. */
  readonly #turns = new OneAtATime();
  /** The depth of each running call, by the name of its turn. */
  readonly #running = new Map<string, number>();

  private constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Requires a database with `keyedCallMigrations` applied. */
  static async open(database: Database, clock: Clock): Promise<KeyedCalls> {
    await database.batch([
      {
        sql: "UPDATE tool_calls SET outcome = ? WHERE outcome IS NULL",
        params: [JSON.stringify({ result: interrupted } satisfies Outcome)],
      },
    ]);
    return new KeyedCalls(database, clock);
  }

  /**
   * Returns the stored outcome, or does the work. `work` awaits `begun` immediately before its effects may begin; an error
   * that it throws earlier is not stored, so that the call may be repeated. Throws InvalidParams if the key names another
   * call, and LimitExceeded if the call would wait for itself. `hear` receives, before the outcome, what it may hold of
   * texts that nobody vouches for; so does the one that `work` is given, from which a stored outcome gets it.
   */
  async run(
    call: KeyedCall,
    work: (begun: () => Promise<void>, hear: Hear) => Promise<GuestToolResult>,
    hear?: Hear,
  ): Promise<GuestToolResult> {
    // As the database stores it: text that is not well-formed gets the same replacement each time.
    const key = call.key.toWellFormed();
    const turn = JSON.stringify([call.caller, key]);
    const running = this.#running.get(turn);
    if (running !== undefined && call.depth > running)
      throw limitExceeded(
        "tool_call_cycle",
        call.depth,
        `The call with the key ${JSON.stringify(key)} cannot be repeated from its own handler, which it would wait for. Use another key.`,
      );
    const digest = sha256(canonicalJson(call.identity));
    return await this.#turns.run(turn, async () => {
      const known = await this.#find(call.caller, key);
      if (known !== null) return outcomeOf(known, key, digest, hear);
      this.#running.set(turn, call.depth);
      try {
        return await this.#runFirst(call.caller, key, digest, hear, work);
      } finally {
        this.#running.delete(turn);
      }
    });
  }

  async #runFirst(
    caller: string,
    key: string,
    digest: string,
    hear: Hear | undefined,
    work: (begun: () => Promise<void>, hear: Hear) => Promise<GuestToolResult>,
  ): Promise<GuestToolResult> {
    let hasBegun = false;
    let foreign = nothingForeign;
    const heard: Hear = (more) => {
      foreign = bothForeign(foreign, more);
      hear?.(more);
    };
    const marked = (outcome: Outcome): Outcome => (isForeign(foreign) ? { ...outcome, foreign } : outcome);
    const begun = async (): Promise<void> => {
      await this.#database.batch([
        {
          sql: "INSERT INTO tool_calls (caller, key, digest, began) VALUES (?, ?, ?, ?)",
          params: [caller, key, digest, this.#clock.now()],
        },
      ]);
      hasBegun = true;
      failpoint("tools.call.begun");
    };
    let result: GuestToolResult;
    try {
      result = await work(begun, heard);
    } catch (error) {
      if (!hasBegun || !isLaresError(error)) throw error;
      const told = error.code === "AgentError" ? withUnknownEffect(error) : error;
      const { code, message, facts } = told;
      await this.#store(caller, key, marked({ error: { code, message, facts } }));
      throw told;
    }
    await this.#store(caller, key, marked({ result }));
    return result;
  }

  async #find(caller: string, key: string): Promise<KeptRow | null> {
    const [row] = await this.#database.query<KeptRow>(
      "SELECT digest, outcome FROM tool_calls WHERE caller = ? AND key = ?",
      [caller, key],
    );
    return row ?? null;
  }

  async #store(caller: string, key: string, outcome: Outcome): Promise<void> {
    failpoint("tools.call.answered");
    await this.#database.batch([
      {
        sql: "UPDATE tool_calls SET outcome = ? WHERE caller = ? AND key = ?",
        params: [JSON.stringify(outcome), caller, key],
      },
      {
        sql: `DELETE FROM tool_calls WHERE seq IN (
                SELECT seq FROM (
                  SELECT seq, row_number() OVER newest AS place, sum(octet_length(outcome)) OVER newest AS through
                  FROM tool_calls WHERE caller = ?1 AND outcome IS NOT NULL WINDOW newest AS (ORDER BY seq DESC))
                WHERE place > ?2 OR (place > 1 AND through > ?3))`,
        params: [caller, maxKeptCalls, maxKeptBytes],
      },
    ]);
    failpoint("tools.call.stored");
  }
}

/** A caller that reads only that the agent ended could make the same call again, under another key. */
function withUnknownEffect({ code, message, facts }: LaresError): LaresError {
  return new LaresError(code, `${message} Whether the call took effect is unknown.`, facts);
}

interface KeptRow {
  readonly digest: string;
  readonly outcome: string | null;
}

function outcomeOf(row: KeptRow, key: string, digest: string, hear: Hear | undefined): GuestToolResult {
  if (row.digest !== digest)
    throw invalidParams(
      `The key ${JSON.stringify(key)} names another call: of another tool, with other arguments, or on behalf of others. Use a key for one call only.`,
      { path: "key" },
    );
  // The handler is not running any more, so storing its outcome must have failed.
  if (row.outcome === null) return interrupted;
  const outcome = JSON.parse(row.outcome) as Outcome;
  if (outcome.foreign !== undefined) hear?.(outcome.foreign);
  if ("result" in outcome) return outcome.result;
  const { code, message, facts } = outcome.error;
  throw new LaresError(code, message, facts);
}

/**
 * Removes texts from the outcomes of calls, and the whole outcomes of these. A call that is repeated is still not made again.
 * Returns how many outcomes changed.
 */
export async function redactKeyedCalls(
  database: Database,
  texts: readonly string[],
  calls: readonly { readonly caller: string; readonly key: string }[],
): Promise<number> {
  const outcome = JSON.stringify({ result: removed } satisfies Outcome);
  const results = await database.batch(
    calls.map(({ caller, key }) => ({
      // The taint stays.
      sql: `UPDATE tool_calls SET outcome = CASE WHEN outcome -> '$.foreign' IS NULL THEN ?1
                ELSE json_set(?1, '$.foreign', json(outcome -> '$.foreign')) END
              WHERE caller = ?2 AND key = ?3 AND outcome IS NOT NULL
                AND coalesce(outcome ->> '$.result.value', '') <> ?4`,
      params: [outcome, caller, key, redactedMark],
    })),
  );
  const whole = results.reduce((sum, { changes }) => sum + changes, 0);
  return whole + (await redactColumns(database, keyedCallTexts, texts));
}

/** Returns what deletes the outcomes of a caller's calls with a key. */
export function forgetKeyedCalls(caller: string): Statement[] {
  return [{ sql: "DELETE FROM tool_calls WHERE caller = ?", params: [caller] }];
}
