import fc from "fast-check";
import { expect, test } from "vitest";
import { Emitter } from "../base/emitter.ts";
import { newId } from "../base/ids.ts";
import { silentLog } from "../base/log.ts";
import { isAtLeast, type TraceEntry, type TraceQuery } from "../base/vocabulary/trace.ts";
import { createTraceService } from "./traces.ts";

type Level = TraceEntry["level"];

/** A log in memory whose answers wait until the test releases them. */
class HeldLog {
  readonly entries = new Emitter<TraceEntry>();
  readonly stored: TraceEntry[] = [];
  readonly #held: (() => void)[] = [];

  write(message: string, level: Level = "info", agent = "a.b"): TraceEntry {
    const entry = {
      timestamp: "2026-01-01T00:00:00.000Z",
      level,
      agent,
      message,
      trace_id: "t",
      span_id: newId(),
    };
    this.stored.push(entry);
    this.entries.emit(entry);
    return entry;
  }

  query({ after = "", agent, level = "debug", limit = 100 }: TraceQuery): Promise<TraceEntry[]> {
    const found = this.stored
      .filter((entry) => entry.span_id > after && isAtLeast(entry.level, level))
      .filter((entry) => agent === undefined || entry.agent === agent)
      .toReversed()
      .slice(0, limit);
    return new Promise((resolve) => this.#held.push(() => resolve(found)));
  }

  async answer(): Promise<void> {
    for (const release of this.#held.splice(0)) release();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("without a cursor only new entries are sent, including those before the log was read", async () => {
  const log = new HeldLog();
  log.write("before");
  const told: string[] = [];
  createTraceService(log, silentLog).follow({}, undefined, ({ message }) => told.push(message));
  log.write("while it is read");
  await log.answer();
  log.write("after");
  expect(told).toEqual(["while it is read", "after"]);
});

test("from a cursor, later matching entries of the log are sent first", async () => {
  const log = new HeldLog();
  const last = log.write("seen");
  log.write("missed");
  log.write("too quiet", "debug");
  log.write("another one's", "error", "c.d");
  const told: string[] = [];
  const traces = createTraceService(log, silentLog);
  traces.follow({ agent: "a.b", level: "info" }, last.span_id, ({ message }) => told.push(message));
  await log.answer();
  log.write("too quiet again", "debug");
  expect(told).toEqual(["missed"]);
});

test("a log that cannot be read does not affect new entries", async () => {
  const log = new HeldLog();
  const failing = { entries: log.entries, query: async () => Promise.reject(new Error("The disk is gone.")) };
  const told: string[] = [];
  createTraceService(failing, silentLog).follow({}, undefined, ({ message }) => told.push(message));
  log.write("new");
  await log.answer();
  expect(told).toEqual(["new"]);
});

test("after unfollow nothing is sent, not even entries that were being read", async () => {
  const log = new HeldLog();
  const told: string[] = [];
  const following = createTraceService(log, silentLog).follow({}, "", ({ message }) => told.push(message));
  log.write("written");
  following[Symbol.dispose]();
  await log.answer();
  log.write("later");
  expect(told).toEqual([]);
});

test("after any number of unfollows and follows from the last entry, each entry is sent once, in order", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom("write", "write", "answer", "leave", "follow"), { maxLength: 60 }),
      async (steps) => {
        const log = new HeldLog();
        const traces = createTraceService(log, silentLog);
        const told: TraceEntry[] = [];
        const tell = (entry: TraceEntry): void => void told.push(entry);
        let following: Disposable & { cursor: string } = traces.follow({}, undefined, tell);
        let isFollowing = true;
        const leave = (): void => {
          following[Symbol.dispose]();
          isFollowing = false;
        };
        const resume = (): void => {
          following = traces.follow({}, told.at(-1)?.span_id ?? following.cursor, tell);
          isFollowing = true;
        };
        for (const step of steps) {
          if (step === "write") log.write(`${log.stored.length}`);
          else if (step === "answer") await log.answer();
          else if (step === "leave" && isFollowing) leave();
          else if (step === "follow" && !isFollowing) resume();
        }
        if (!isFollowing) resume();
        await log.answer();
        expect(told.map(({ message }) => message)).toEqual(log.stored.map(({ message }) => message));
      },
    ),
  );
});
