import type { Clock } from "../base/clock.ts";
import { limitExceeded, notFound } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Database, Statement } from "../platform/database/database.ts";
import { failpoint } from "../platform/failpoint.ts";
import { Acknowledgements, type Alongside } from "./acknowledgements.ts";
import { type InboxItem, Lane, type LaneName, type Waiting } from "./lane.ts";

export interface NewItem {
  readonly agent: string;
  readonly lane: LaneName;
  /** Stored as JSON. */
  readonly payload: unknown;
  /** The origin of the item, for callers that bound how many of one origin may wait; see `waiting`. */
  readonly source?: string;
}

/** An item that was given up and kept for inspection. */
interface DeadLetter extends Omit<InboxItem, "dueAt"> {
  readonly buriedAt: number;
  readonly reason: string;
}

interface PreparedItems {
  /** Join the caller's own transaction. */
  readonly statements: readonly Statement[];
  /** Must be called once that transaction is committed, and only then: makes the items visible. */
  committed(): void;
}

/**
 * The durable queue of each agent. Delivers at least once, in order within a lane: an item that waits for a retry
 * holds back those behind it. The live lane goes before the backlog lane.
 */
export interface Inbox extends AsyncDisposable {
  /** Throws LimitExceeded for a payload over `maxPayloadBytes`. */
  prepare(items: readonly NewItem[]): PreparedItems;
  enqueue(items: readonly NewItem[]): Promise<void>;
  /**
   * Returns the item that is due: the same one until it is acknowledged, put back or dead-lettered. Skips items
   * that the caller has in hand.
   */
  next(agent: string, isInHand?: (seq: number) => boolean): Promise<InboxItem | null>;
  /** When `next` will have an item, in milliseconds since 1970 (0: now); null if nothing waits. */
  nextDueAt(agent: string): number | null;
  /** Ends the item. Stored a moment later: after a crash before that, it is delivered once more. */
  acknowledge(agent: string, seq: number): void;
  /** Counts an attempt and delivers the item again at `dueAt`, in milliseconds since 1970. */
  retryLater(agent: string, seq: number, dueAt: number): Promise<void>;
  /** Gives the item up and keeps it among the dead letters. */
  deadLetter(agent: string, seq: number, reason: string): Promise<void>;
  /** Newest first. */
  dead(agent: string, limit?: number): Promise<readonly DeadLetter[]>;
  /** The number of waiting items in both lanes. */
  depth(agent: string): number;
  /** Returns what waits from this source, in both lanes. Synchronous, unlike `waiting`. */
  from(agent: string, source: string): Waiting;
  /** Resolves to the number of unfinished items from this source, including those in hand. */
  waiting(agent: string, source: string): Promise<number>;
  /** Drops everything that waits for the agent. Its dead letters stay. */
  clear(agent: string): Promise<void>;
  /** Resolves when all acknowledgements are stored. */
  flush(): Promise<void>;
}

/** Bytes of JSON in one payload. */
export const maxPayloadBytes = 1024 * 1024;
/** Dead letters kept for each agent; the oldest go first. */
export const maxDeadLetters = 1000;
/** Bytes of dead letters' payloads per agent; the newest is always kept. */
export const maxDeadLetterBytes = 16 * 1024 * 1024;
const laneNames = ["live", "backlog"] as const satisfies LaneName[];

interface InboxOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Returns statements for the transactions in which items are deleted for good, such as counters. */
  readonly alongside?: () => Alongside;
}

/** `database` has `inboxMigrations` applied. */
export async function openInbox(options: InboxOptions): Promise<Inbox> {
  const { database } = options;
  const stored = await database.query<StoredLane>(
    "SELECT agent, lane, source, count(*) AS count, sum(octet_length(payload)) AS bytes FROM inbox GROUP BY agent, lane, source",
  );
  const last = await database.query<{ seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = 'inbox'");
  return new SqlInbox(options, stored, (last[0]?.seq ?? 0) + 1);
}

interface StoredLane {
  readonly agent: string;
  readonly lane: LaneName;
  readonly source: string | null;
  readonly count: number;
  readonly bytes: number;
}

interface StoredWaiting {
  readonly count: number;
  readonly bySource: ReadonlyMap<string, Waiting>;
}

/** Groups what is stored by lane (`keyOf`). */
function byLane(rows: readonly StoredLane[]): Map<string, StoredWaiting> {
  const lanes = new Map<string, { count: number; bySource: Map<string, Waiting> }>();
  for (const { agent, lane, source, count, bytes } of rows) {
    const known = lanes.get(keyOf(agent, lane)) ?? { count: 0, bySource: new Map() };
    known.count += count;
    if (source !== null) known.bySource.set(source, { count, bytes });
    lanes.set(keyOf(agent, lane), known);
  }
  return lanes;
}

function keyOf(agent: string, lane: LaneName): string {
  return `${lane} ${agent}`;
}

type Lanes = Readonly<Record<LaneName, Lane>>;

class SqlInbox implements Inbox {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #acknowledgements: Acknowledgements;
  readonly #alongside: () => Alongside;
  readonly #agents = new Map<string, Lanes>();
  /** Numbers from `prepare` whose `committed()` has not been called. */
  readonly #unannounced = new Set<number>();
  readonly #stored: ReadonlyMap<string, StoredWaiting>;
  #nextSeq: number;

  constructor(
    { database, clock, log, alongside = () => nothingAlongside }: InboxOptions,
    stored: readonly StoredLane[],
    nextSeq: number,
  ) {
    this.#database = database;
    this.#clock = clock;
    this.#acknowledgements = new Acknowledgements(database, clock, log, alongside);
    this.#alongside = alongside;
    this.#stored = byLane(stored);
    this.#nextSeq = nextSeq;
  }

  prepare(items: readonly NewItem[]): PreparedItems {
    const enqueuedAt = this.#clock.now();
    failpoint("inbox.enqueue.begun");
    const texts = items.map((item) => boundedText(item));
    const numbered = items.map(({ agent, lane, payload, source = null }, index) => {
      const whole: InboxItem = {
        agent,
        lane,
        payload,
        kind: "event",
        seq: this.#nextSeq++,
        attempts: 0,
        dueAt: 0,
        enqueuedAt,
      };
      this.#unannounced.add(whole.seq);
      return { item: whole, source, text: texts[index]?.text ?? "", bytes: texts[index]?.bytes ?? 0 };
    });
    return {
      statements: numbered.map(({ item: { seq, agent, lane }, source, text }) => ({
        sql: "INSERT INTO inbox (seq, agent, lane, payload, enqueued_at, source) VALUES (?, ?, ?, ?, ?, ?)",
        params: [seq, agent, lane, text, enqueuedAt, source],
      })),
      committed: () => {
        failpoint("inbox.enqueue.committed");
        for (const { item, bytes, source } of numbered) {
          if (!this.#unannounced.delete(item.seq)) continue;
          this.#lanes(item.agent)[item.lane].add(item, bytes, source);
        }
      },
    };
  }

  async enqueue(items: readonly NewItem[]): Promise<void> {
    const prepared = this.prepare(items);
    await this.#database.batch(prepared.statements);
    prepared.committed();
  }

  async next(agent: string, isInHand: (seq: number) => boolean = () => false): Promise<InboxItem | null> {
    const lanes = this.#lanes(agent);
    for (const name of laneNames) {
      const lane = lanes[name];
      if (lane.first(isInHand) === undefined) await lane.load();
      const first = lane.first(isInHand);
      if (first === null || first === undefined || first.dueAt > this.#clock.now()) continue;
      failpoint("inbox.next.found");
      return first;
    }
    return null;
  }

  nextDueAt(agent: string): number | null {
    const lanes = this.#lanes(agent);
    const dueTimes = laneNames
      .map((name) => lanes[name].first(() => false))
      .filter((first) => first !== null)
      // A lane that is not read yet counts as due: `next` reads it.
      .map((first) => first?.dueAt ?? 0);
    return dueTimes.length === 0 ? null : Math.min(...dueTimes);
  }

  acknowledge(agent: string, seq: number): void {
    failpoint("inbox.acknowledge.called");
    const lanes = this.#lanes(agent);
    if (laneNames.some((name) => lanes[name].remove(seq))) this.#acknowledgements.add(seq);
    failpoint("inbox.acknowledge.noted");
  }

  async retryLater(agent: string, seq: number, dueAt: number): Promise<void> {
    const [lane, item] = this.#find(agent, seq);
    const attempts = item.attempts + 1;
    failpoint("inbox.retry.begun");
    await this.#database.batch([
      {
        sql: "UPDATE inbox SET attempts = ?, due_at = ? WHERE seq = ?",
        params: [attempts, Math.ceil(dueAt), seq],
      },
    ]);
    failpoint("inbox.retry.committed");
    lane.update({ ...item, attempts, dueAt: Math.ceil(dueAt) });
  }

  async deadLetter(agent: string, seq: number, reason: string): Promise<void> {
    const [lane] = this.#find(agent, seq);
    failpoint("inbox.deadLetter.begun");
    const alongside = this.#alongside();
    await this.#database.batch([
      {
        sql: `INSERT INTO inbox_dead SELECT seq, agent, lane, payload, attempts, enqueued_at, ?, ? FROM inbox WHERE seq = ?`,
        params: [this.#clock.now(), reason, seq],
      },
      { sql: "DELETE FROM inbox WHERE seq = ?", params: [seq] },
      {
        sql: `DELETE FROM inbox_dead WHERE agent = ? AND seq <=
                (SELECT seq FROM inbox_dead WHERE agent = ? ORDER BY seq DESC LIMIT 1 OFFSET ?)`,
        params: [agent, agent, maxDeadLetters],
      },
      {
        sql: `DELETE FROM inbox_dead WHERE seq IN
                (SELECT seq FROM (SELECT seq, sum(octet_length(payload)) OVER (ORDER BY seq DESC) AS through
                                  FROM inbox_dead WHERE agent = ?)
                 WHERE through > ?)
              AND seq < (SELECT max(seq) FROM inbox_dead WHERE agent = ?)`,
        params: [agent, maxDeadLetterBytes, agent],
      },
      ...alongside.statements,
    ]);
    alongside.committed();
    failpoint("inbox.deadLetter.committed");
    lane.remove(seq);
  }

  async dead(agent: string, limit = 100): Promise<readonly DeadLetter[]> {
    const rows = await this.#database.query<DeadRow>(
      `SELECT seq, lane, payload, attempts, enqueued_at, buried_at, reason
       FROM inbox_dead WHERE agent = ? ORDER BY seq DESC LIMIT ?`,
      [agent, limit],
    );
    return rows.map((row) => ({
      seq: row.seq,
      agent,
      lane: row.lane,
      kind: "event",
      payload: JSON.parse(row.payload) as unknown,
      attempts: row.attempts,
      enqueuedAt: row.enqueued_at,
      buriedAt: row.buried_at,
      reason: row.reason,
    }));
  }

  depth(agent: string): number {
    const { live, backlog } = this.#lanes(agent);
    return live.count + backlog.count;
  }

  from(agent: string, source: string): Waiting {
    const { live, backlog } = this.#lanes(agent);
    const [one, other] = [live.from(source), backlog.from(source)];
    return { count: one.count + other.count, bytes: one.bytes + other.bytes };
  }

  async waiting(agent: string, source: string): Promise<number> {
    // Acknowledged items may still be in the table; they do not wait.
    await this.flush();
    const rows = await this.#database.query<{ count: number }>(
      "SELECT count(*) AS count FROM inbox WHERE agent = ? AND source = ?",
      [agent, source],
    );
    return rows[0]?.count ?? 0;
  }

  async clear(agent: string): Promise<void> {
    const lanes = this.#lanes(agent);
    // Cleared in memory first, so that nothing is delivered while it is being deleted.
    const through = this.#nextSeq - 1;
    for (const name of laneNames) lanes[name].clear(through);
    await this.#database.batch([
      { sql: "DELETE FROM inbox WHERE agent = ? AND seq <= ?", params: [agent, through] },
    ]);
  }

  flush(): Promise<void> {
    return this.#acknowledgements.flush();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.flush();
  }

  #find(agent: string, seq: number): [Lane, InboxItem] {
    const lanes = this.#lanes(agent);
    for (const name of laneNames) {
      const item = lanes[name].find(seq);
      if (item !== undefined) return [lanes[name], item];
    }
    throw notFound("item in the inbox", `${agent}/${seq}`);
  }

  #lanes(agent: string): Lanes {
    const known = this.#agents.get(agent);
    if (known !== undefined) return known;
    const lane = (name: LaneName): Lane => {
      const stored = this.#stored.get(keyOf(agent, name));
      return new Lane(
        agent,
        name,
        this.#database,
        (seq) => this.#unannounced.has(seq),
        stored?.count ?? 0,
        stored?.bySource ?? new Map(),
      );
    };
    const lanes: Lanes = { live: lane("live"), backlog: lane("backlog") };
    this.#agents.set(agent, lanes);
    return lanes;
  }
}

const nothingAlongside: Alongside = { statements: [], committed: () => undefined };

interface DeadRow {
  readonly seq: number;
  readonly lane: LaneName;
  readonly payload: string;
  readonly attempts: number;
  readonly enqueued_at: number;
  readonly buried_at: number;
  readonly reason: string;
}

function boundedText({ agent, payload }: NewItem): { readonly text: string; readonly bytes: number } {
  const text = JSON.stringify(payload);
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxPayloadBytes) return { text, bytes };
  throw limitExceeded(
    "event_bytes",
    bytes,
    `An event for "${agent}" has ${bytes} bytes of JSON; at most ${maxPayloadBytes} are delivered. Put large content in a file and send its path.`,
  );
}
