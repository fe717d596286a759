import type { Database } from "../platform/database/database.ts";

export type LaneName = "live" | "backlog";

export interface InboxItem {
  readonly seq: number;
  readonly agent: string;
  readonly lane: LaneName;
  readonly kind: "event";
  readonly payload: unknown;
  /** How often it was tried and put back. */
  readonly attempts: number;
  /** Milliseconds since 1970; not delivered before. */
  readonly dueAt: number;
  readonly enqueuedAt: number;
}

/** Items of a lane that are held in memory; the others wait in the database. */
const maxItemsInMemory = 256;
/** Bytes of payload that a lane holds in memory, besides its first item. */
const maxPayloadInMemory = 1024 * 1024;

/** The size of what waits. */
export interface Waiting {
  readonly count: number;
  /** Bytes of JSON in the payloads. */
  readonly bytes: number;
}

interface Held {
  item: InboxItem;
  readonly source: string | null;
  readonly payloadBytes: number;
}

interface Row {
  readonly seq: number;
  readonly payload: string;
  readonly bytes: number;
  readonly attempts: number;
  readonly due_at: number;
  readonly enqueued_at: number;
  readonly source: string | null;
}

/** Reads as many rows as fit: `before` is the size of the rows ahead, so the first always fits. */
const pageQuery = `
  SELECT seq, payload, bytes, attempts, due_at, enqueued_at, source
  FROM (SELECT *, octet_length(payload) AS bytes,
          sum(octet_length(payload)) OVER (ORDER BY seq) - octet_length(payload) AS before
        FROM inbox WHERE agent = ? AND lane = ? AND seq > ? ORDER BY seq LIMIT ?)
  WHERE before < ? ORDER BY seq`;

/** One agent's items of one urgency, in order: the first ones in memory, all of them in the database. */
export class Lane {
  readonly #agent: string;
  readonly #name: LaneName;
  readonly #database: Database;
  /** True for an item that is committed but not announced by `committed()`, which will add it. */
  readonly #isUnannounced: (seq: number) => boolean;
  #held: Held[] = [];
  #heldBytes = 0;
  #count = 0;
  readonly #bySource: Map<string, Waiting>;
  /** Everything up to this seq has been in memory; the database is read on from here. */
  #readThrough = 0;
  /** Incremented by `clear`, so that an earlier read is recognized as stale. */
  #era = 0;
  #loading: Promise<void> | null = null;

  constructor(
    agent: string,
    name: LaneName,
    database: Database,
    isUnannounced: (seq: number) => boolean,
    storedCount: number,
    storedBySource: ReadonlyMap<string, Waiting>,
  ) {
    this.#agent = agent;
    this.#name = name;
    this.#database = database;
    this.#isUnannounced = isUnannounced;
    this.#count = storedCount;
    this.#bySource = new Map(storedBySource);
  }

  /** The number of items that wait, in memory and in the database. */
  get count(): number {
    return this.#count;
  }

  /** Items of one source that wait, in memory and in the database. */
  from(source: string): Waiting {
    return this.#bySource.get(source) ?? { count: 0, bytes: 0 };
  }

  /** Returns the oldest item that is not in hand; `undefined` if it must be read first (see `load`), null if none. */
  first(isInHand: (seq: number) => boolean): InboxItem | null | undefined {
    for (const { item } of this.#held) if (!isInHand(item.seq)) return item;
    return this.#held.length === this.#count ? null : undefined;
  }

  /** Reads the next page after what is in memory. Concurrent calls share one read. */
  load(): Promise<void> {
    this.#loading ??= this.#read().finally(() => (this.#loading = null));
    return this.#loading;
  }

  /** Adds a committed item. Holds it in memory if there is room and the order allows it. */
  add(item: InboxItem, payloadBytes: number, source: string | null): void {
    this.#tally(source, 1, payloadBytes);
    const followsDirectly = this.#held.length === this.#count;
    this.#count += 1;
    const hasRoom =
      this.#held.length === 0 ||
      (this.#held.length < maxItemsInMemory && this.#heldBytes + payloadBytes <= maxPayloadInMemory);
    // An item below `#readThrough` would never be read again, so it must be held even without room.
    if (item.seq > this.#readThrough && !(followsDirectly && hasRoom)) return;
    const before = this.#held.findLastIndex((held) => held.item.seq < item.seq);
    this.#held.splice(before + 1, 0, { item, source, payloadBytes });
    this.#heldBytes += payloadBytes;
    this.#readThrough = Math.max(this.#readThrough, item.seq);
  }

  find(seq: number): InboxItem | undefined {
    return this.#held.find((held) => held.item.seq === seq)?.item;
  }

  /** Replaces an item by its changed version. */
  update(item: InboxItem): void {
    const held = this.#held.find((one) => one.item.seq === item.seq);
    if (held !== undefined) held.item = item;
  }

  /** Removes an item; false if it is not held, and so was never delivered. */
  remove(seq: number): boolean {
    const index = this.#held.findIndex((held) => held.item.seq === seq);
    const [removed] = index < 0 ? [] : this.#held.splice(index, 1);
    if (removed === undefined) return false;
    this.#heldBytes -= removed.payloadBytes;
    this.#count -= 1;
    this.#tally(removed.source, -1, -removed.payloadBytes);
    return true;
  }

  /** Forgets everything up to `throughSeq`, which was deleted from the database. */
  clear(throughSeq: number): void {
    this.#era += 1;
    this.#readThrough = throughSeq;
    this.#held = [];
    this.#heldBytes = 0;
    this.#count = 0;
    this.#bySource.clear();
  }

  #tally(source: string | null, count: number, bytes: number): void {
    if (source === null) return;
    const before = this.from(source);
    if (before.count + count <= 0) this.#bySource.delete(source);
    else this.#bySource.set(source, { count: before.count + count, bytes: before.bytes + bytes });
  }

  async #read(): Promise<void> {
    const era = this.#era;
    const before = this.#held.length;
    while (this.#held.length <= before && this.#held.length < this.#count) {
      const rows = await this.#database.query<Row>(pageQuery, [
        this.#agent,
        this.#name,
        this.#readThrough,
        maxItemsInMemory,
        maxPayloadInMemory,
      ]);
      if (era !== this.#era) return;
      if (rows.length === 0) {
        // Another program emptied the table; correcting the count ends the retries.
        this.#count = this.#held.length;
        this.#bySource.clear();
        for (const { source, payloadBytes } of this.#held) this.#tally(source, 1, payloadBytes);
        return;
      }
      for (const row of rows) {
        this.#readThrough = Math.max(this.#readThrough, row.seq);
        if (!this.#isUnannounced(row.seq)) this.#hold(row);
      }
    }
  }

  #hold(row: Row): void {
    const item: InboxItem = {
      seq: row.seq,
      agent: this.#agent,
      lane: this.#name,
      kind: "event",
      // `prepare` wrote it from a JSON value.
      payload: JSON.parse(row.payload) as unknown,
      attempts: row.attempts,
      dueAt: row.due_at,
      enqueuedAt: row.enqueued_at,
    };
    const before = this.#held.findLastIndex((held) => held.item.seq < item.seq);
    this.#held.splice(before + 1, 0, { item, source: row.source, payloadBytes: row.bytes });
    this.#heldBytes += row.bytes;
  }
}
