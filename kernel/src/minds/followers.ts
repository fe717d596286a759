import type { Clock } from "../base/clock.ts";
import type { Entry } from "../base/vocabulary/conversation.ts";
import type { Delta } from "../base/vocabulary/conversation-requests.ts";
import type { EntryReader } from "./ports.ts";

/** Receives what is followed. */
export interface Sink {
  entry(entry: Entry): void;
  delta(delta: Delta): void;
}

/** Entries that are read at once for a client that follows. */
const pageSize = 500;

/** Reads a conversation's entries behind a seq, some at a time. */
export async function* pagesBehind(
  reader: Pick<EntryReader, "entries">,
  id: string,
  from: number,
): AsyncGenerator<readonly Entry[]> {
  for (let after = from; ;) {
    const page = await reader.entries(id, { after, limit: pageSize });
    yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return;
    after = last.seq;
  }
}

/** Pieces that come faster than this are joined. */
const deltaEveryMs = 16;

/** One client that follows a conversation: passes each entry on once and in order, and pieces of messages before them. */
export class Follower implements Disposable {
  readonly #sink: Sink;
  readonly #clock: Clock;
  #lastSeq: number;
  /** Entries that arrived while earlier ones were read. */
  #early: Entry[] | null = [];
  #deltas: { -readonly [Field in keyof Delta]: Delta[Field] }[] = [];
  #timer: Disposable | null = null;
  #isOver = false;

  constructor(sink: Sink, from: number, clock: Clock) {
    this.#sink = sink;
    this.#lastSeq = from;
    this.#clock = clock;
  }

  /** Passes on what is in the log already, then what came meanwhile. */
  async replay(pages: AsyncIterable<readonly Entry[]>): Promise<void> {
    for await (const page of pages) {
      if (this.#isOver) return;
      for (const entry of page) this.#pass(entry);
    }
    const early = this.#early ?? [];
    this.#early = null;
    for (const entry of early) this.#pass(entry);
  }

  take(entries: readonly Entry[]): void {
    if (this.#early !== null) this.#early.push(...entries);
    else for (const entry of entries) this.#pass(entry);
  }

  delta(delta: Delta): void {
    if (this.#isOver || this.#early !== null) return;
    const last = this.#deltas.at(-1);
    if (last !== undefined && isSamePlace(last, delta)) last.text += delta.text;
    else this.#deltas.push({ ...delta });
    if (this.#timer === null) this.#flush();
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#timer?.[Symbol.dispose]();
  }

  #pass(entry: Entry): void {
    if (this.#isOver || entry.seq <= this.#lastSeq) return;
    this.#send();
    this.#lastSeq = entry.seq;
    this.#sink.entry(entry);
  }

  #flush(): void {
    if (!this.#send()) return;
    this.#timer = this.#clock.timer(deltaEveryMs, () => {
      this.#timer = null;
      this.#flush();
    });
  }

  #send(): boolean {
    const deltas = this.#deltas;
    this.#deltas = [];
    for (const delta of deltas) this.#sink.delta(delta);
    return deltas.length > 0;
  }
}

function isSamePlace(one: Delta, other: Delta): boolean {
  return (
    one.process === other.process &&
    one.message === other.message &&
    one.part === other.part &&
    one.type === other.type
  );
}
