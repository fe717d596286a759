import type { TraceEntry } from "../protocol.ts";
import {
  maxEntriesPerPush,
  maxFieldsCharacters,
  maxMessageCharacters,
  type Entry,
} from "../webviews/traces/messages.ts";

/** The time between two messages to the view while traces arrive. */
export const pushEveryMs = 100;

export interface Batch {
  readonly entries: Entry[];
  readonly dropped: number;
}

/**
 * Collects traces, however fast they arrive, into at most one batch per `pushEveryMs` with at most `maxEntriesPerPush`
 * entries: the oldest are dropped and counted. An entry that is not shown costs one slot in a ring.
 */
export class TraceBatches {
  readonly #ring: (TraceEntry | undefined)[] = Array.from({ length: maxEntriesPerPush });
  readonly #push: (batch: Batch) => void;
  readonly #later: (act: () => void, afterMs: number) => { cancel(): void };
  #count = 0;
  #timer: { cancel(): void } | undefined;

  constructor(push: (batch: Batch) => void, later = laterByTimer) {
    this.#push = push;
    this.#later = later;
  }

  add(entry: TraceEntry): void {
    this.#ring[this.#count % maxEntriesPerPush] = entry;
    this.#count++;
    this.#timer ??= this.#later(() => this.#flush(), pushEveryMs);
  }

  /** Discards what was not pushed yet. */
  clear(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#count = 0;
    this.#ring.fill(undefined);
  }

  #flush(): void {
    const kept = Math.min(this.#count, maxEntriesPerPush);
    const dropped = this.#count - kept;
    const entries: Entry[] = [];
    for (let index = this.#count - kept; index < this.#count; index++) {
      const entry = this.#ring[index % maxEntriesPerPush];
      if (entry !== undefined) entries.push(shownEntry(entry));
    }
    this.clear();
    this.#push({ entries, dropped });
  }
}

function laterByTimer(act: () => void, afterMs: number): { cancel(): void } {
  const timer = setTimeout(act, afterMs);
  return { cancel: () => clearTimeout(timer) };
}

/** Returns an entry as sent to a view: bounded, its fields as text. */
export function shownEntry({
  timestamp,
  level,
  agent,
  hook,
  message,
  fields,
  trace_id,
  span_id,
}: TraceEntry): Entry {
  return {
    timestamp: timestamp.slice(0, 40),
    level,
    agent: agent.slice(0, 256),
    ...(hook === undefined ? {} : { hook: hook.slice(0, 256) }),
    message: message.slice(0, maxMessageCharacters),
    ...(fields === undefined ? {} : { fields: JSON.stringify(fields).slice(0, maxFieldsCharacters) }),
    traceId: trace_id.slice(0, 64),
    spanId: span_id.slice(0, 64),
  };
}
