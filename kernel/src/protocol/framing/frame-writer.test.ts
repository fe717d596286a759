import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FrameDecoder } from "./decoder.ts";
import { FrameWriter, type FrameWriterOptions } from "./frame-writer.ts";
import type { ByteSink } from "./streams.ts";

/** A stream whose reader can stop: then each write is the last it takes until `read` is called. */
class SlowSink implements ByteSink {
  readonly taken: Uint8Array[] = [];
  isReading = true;
  isDestroyed = false;
  #listeners = new Map<string, ((error: Error) => void)[]>();

  on(event: string, listener: (error: Error) => void): void {
    this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), listener]);
  }
  write(bytes: Uint8Array): boolean {
    this.taken.push(bytes);
    return this.isReading;
  }
  end(done?: () => void): void {
    done?.();
  }
  destroy(): void {
    this.isDestroyed = true;
  }
  emit(event: string): void {
    for (const listener of this.#listeners.get(event) ?? []) listener(new Error("EPIPE"));
  }

  numbers(): number[] {
    const heard: number[] = [];
    const decoder = new FrameDecoder({
      message: (message) => heard.push((message as unknown as { params: { n: number } }).params.n),
      refused: (refusal) => expect.fail(refusal.message),
      lost: (reason) => expect.fail(reason),
    });
    for (const bytes of this.taken) decoder.push(bytes);
    return heard;
  }
}

const message = (n: number, filler = ""): string =>
  JSON.stringify({ jsonrpc: "2.0", method: "m", params: { n, filler } });
const limits = { maxQueuedBytes: 2_000, maxDroppableBytes: 500 };

function stuck(options: FrameWriterOptions = {}): { sink: SlowSink; writer: FrameWriter } {
  const sink = new SlowSink();
  sink.isReading = false;
  return { sink, writer: new FrameWriter(sink, { limits, ...options }) };
}

describe("while the peer does not read", () => {
  test("droppable frames give way oldest first, with a count once it reads again; the others stay, in order", () => {
    const dropped: number[] = [];
    const { sink, writer } = stuck({ dropped: (frames) => dropped.push(frames) });
    writer.write(message(0));
    for (let n = 1; n <= 20; n++) writer.write(message(n), n % 2 === 0 ? "droppable" : "must arrive");
    sink.isReading = true;
    sink.emit("drain");
    const numbers = sink.numbers();
    expect(numbers.filter((n) => n % 2 === 1)).toEqual([1, 3, 5, 7, 9, 11, 13, 15, 17, 19]);
    const kept = numbers.filter((n) => n > 0 && n % 2 === 0);
    expect(kept).toEqual([2, 4, 6, 8, 10, 12, 14, 16, 18, 20].slice(-kept.length));
    expect(dropped).toEqual([10 - kept.length]);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  });

  test("too many undroppable messages close the connection, with one reason, and release their memory", () => {
    const reasons: (string | null)[] = [];
    const { sink, writer } = stuck({ closed: (reason) => reasons.push(reason) });
    for (let n = 0; n < 50; n++) writer.write(message(n, "x".repeat(100)));
    expect(reasons).toEqual([expect.stringContaining("does not read")]);
    expect(sink.isDestroyed).toBe(true);
    expect(writer.queuedBytes).toBeLessThanOrEqual(limits.maxQueuedBytes * 2);
    expect(sink.taken).toHaveLength(1);
  });

  test("of messages that replace each other only the last is sent, after earlier ones", () => {
    const { sink, writer } = stuck();
    writer.write(message(0));
    for (let n = 1; n <= 9; n++)
      writer.write(message(n), n % 3 === 0 ? "must arrive" : { replaces: n % 3 === 1 ? "one" : "other" });
    sink.isReading = true;
    sink.emit("drain");
    expect(sink.numbers()).toEqual([0, 3, 6, 7, 8, 9]);
    // What was sent waits no longer: the next is a frame of its own.
    writer.write(message(10), { replaces: "one" });
    expect(sink.numbers()).toEqual([0, 3, 6, 7, 8, 9, 10]);
  });

  test("a flood of states of a few things takes the room of one state each, and leaves the last of each", () => {
    const { writer, sink } = stuck();
    const [one] = [message(0).length];
    for (let n = 0; n < 20_000; n++) {
      writer.write(message(n), { replaces: `${n % 4}` });
      expect(writer.queuedBytes).toBeLessThanOrEqual(4 * (one + 40));
    }
    sink.isReading = true;
    sink.emit("drain");
    expect(sink.numbers()).toEqual([0, 19_996, 19_997, 19_998, 19_999]);
  });

  test("a flood of droppable frames neither closes the connection nor grows the queue", () => {
    const { writer, sink } = stuck();
    for (let n = 0; n < 20_000; n++) {
      writer.write(message(n), "droppable");
      expect(writer.queuedBytes).toBeLessThanOrEqual(limits.maxDroppableBytes);
    }
    sink.isReading = true;
    sink.emit("drain");
    expect(sink.numbers().at(-1)).toBe(19_999);
  });
});

test("a stream that fails or closes is reported once, and later writes are ignored", () => {
  const reasons: (string | null)[] = [];
  const sink = new SlowSink();
  const writer = new FrameWriter(sink, { closed: (reason) => reasons.push(reason) });
  sink.emit("error");
  sink.emit("close");
  writer.write(message(1));
  expect(reasons).toEqual(["Writing failed: EPIPE."]);
  expect(sink.taken).toEqual([]);
});

test("any order of writes, stops and reads: no undroppable message and no last state is lost, and nothing is reordered or duplicated", () => {
  const step = fc.constantFrom("keep", "drop", "replace a", "replace b", "stop", "read", "drain-one");
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const sink = new SlowSink();
      const writer = new FrameWriter(sink, { limits: { maxQueuedBytes: 1e6, maxDroppableBytes: 300 } });
      const mustArrive: number[] = [];
      const last = new Map<string, number>();
      for (const [n, action] of steps.entries()) {
        if (action === "keep") mustArrive.push(n);
        if (action === "keep" || action === "drop")
          writer.write(message(n), action === "drop" ? "droppable" : "must arrive");
        if (action.startsWith("replace")) {
          writer.write(message(n), { replaces: action });
          last.set(action, n);
        }
        if (action === "stop") sink.isReading = false;
        if (action === "read") sink.isReading = true;
        if ((action === "read" || action === "drain-one") && writer.isFull) sink.emit("drain");
      }
      sink.isReading = true;
      sink.emit("drain");
      const numbers = sink.numbers();
      expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
      expect(numbers).toEqual(expect.arrayContaining([...mustArrive, ...last.values()]));
    }),
  );
});
