import type { Emitter } from "../base/emitter.ts";
import { messageOf } from "../base/errors.ts";
import { Fifo } from "../base/fifo.ts";
import { newId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { isAtLeast, type TraceEntry, type TraceLevel, type TraceQuery } from "../base/vocabulary/trace.ts";

interface TraceSource {
  /** Newest first; includes everything written before. */
  query(query: TraceQuery): Promise<TraceEntry[]>;
  /** Emits each entry as stored, at once. */
  readonly entries: Emitter<TraceEntry>;
}

interface TraceFilter {
  readonly agent?: string | undefined;
  /** This level and those above it. */
  readonly level?: TraceLevel | undefined;
  /** Have the agent's steps traced, with values, as long as the subscription lasts and this returns true. */
  readonly inspect?: (() => boolean) | undefined;
}

interface Following extends Disposable {
  /** A later subscription that starts at this cursor misses no entry and repeats none. */
  readonly cursor: string;
}

export interface TraceService {
  query(query: TraceQuery): Promise<TraceEntry[]>;
  /**
   * Reports each matching entry once, in the order of writing: those that the log has since `after` (a cursor, or
   * the `span_id` of an entry), then new ones. Without `after`, only new ones.
   */
  follow(filter: TraceFilter, after: string | undefined, tell: (entry: TraceEntry) => void): Following;
}

/** The maximum number of entries that are replayed from the log to one subscription; the newest are kept. */
const maxReplayed = 10_000;
/** The number of new entries that wait while the log is read. The oldest are dropped, because the log contains them. */
const maxWaiting = 10_000;
const nothingInspected: Disposable = { [Symbol.dispose]: () => undefined };

/** `inspect` has the steps of an agent, or of all, traced until its result is disposed, while the first argument returns true. */
export function createTraceService(
  source: TraceSource,
  log: Log,
  inspect: (mayInspect: () => boolean, agent?: string) => Disposable = () => nothingInspected,
): TraceService {
  return {
    query: (query) => source.query(query),
    follow(filter, after, tell) {
      const cursor = after ?? newId();
      const waiting = new Fifo<TraceEntry>();
      let isReplayed = false;
      let isOver = false;
      const listening = source.entries.on((entry) => {
        if (!matches(entry, filter)) return;
        if (isReplayed) tell(entry);
        else {
          waiting.push(entry);
          if (waiting.length > maxWaiting) waiting.shift();
        }
      });
      const replay = async (): Promise<void> => {
        const query = { ...given(filter), after: cursor, limit: maxReplayed };
        const found = await source.query(query).catch((error: unknown) => {
          log.warn(`Traces could not be read for a client that follows them: ${messageOf(error)}`);
          return [];
        });
        if (isOver) return;
        const known = new Set(found.map(({ span_id }) => span_id));
        const entries = found.toReversed();
        for (let entry = waiting.shift(); entry !== undefined; entry = waiting.shift())
          if (!known.has(entry.span_id)) entries.push(entry);
        isReplayed = true;
        for (const entry of entries) tell(entry);
      };
      void replay();
      const inspecting =
        filter.inspect === undefined ? nothingInspected : inspect(filter.inspect, filter.agent);
      return {
        cursor,
        [Symbol.dispose]() {
          isOver = true;
          listening[Symbol.dispose]();
          inspecting[Symbol.dispose]();
        },
      };
    },
  };
}

function matches(entry: TraceEntry, { agent, level }: TraceFilter): boolean {
  return (
    (agent === undefined || entry.agent === agent) && (level === undefined || isAtLeast(entry.level, level))
  );
}

function given({ agent, level }: TraceFilter): Pick<TraceQuery, "agent" | "level"> {
  return { ...(agent === undefined ? {} : { agent }), ...(level === undefined ? {} : { level }) };
}
