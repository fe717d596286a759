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
    for (let n = 1; n <= 20; n++) writer.write(message(n), { isDroppable: n % 2 === 0 });
    sink.isReading = true;
    sink.emit("drain");
    const numbers = sink.numbers();
    expect(numbers.filter((n) => n % 2 === 1)).toEqual([1, 3, 5, 7, 9, 11, 13, 15, 17, 19]);
    const kept = numbers.filter((n) => n > 0 && n % 2 === 0);
    expect(kept).toEqual([2, 4, 6, 8, 10, 12, 14, 16, 18, 20].slice(-kept.length));
    expect(dropped).toEqual([10 - kept.length]);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  });

  test("too much that may not be dropped closes the connection, with one reason, and holds nothing", () => {
    const reasons: (string | null)[] = [];
    const { sink, writer } = stuck({ closed: (reason) => reasons.push(reason) });
    for (let n = 0; n < 50; n++) writer.write(message(n, "x".repeat(100)));
    expect(reasons).toEqual([expect.stringContaining("does not read")]);
    expect(sink.isDestroyed).toBe(true);
    expect(writer.queuedBytes).toBeLessThanOrEqual(limits.maxQueuedBytes * 2);
    expect(sink.taken).toHaveLength(1);
  });

  test("a flood of droppable frames neither closes the connection nor grows the queue", () => {
    const { writer, sink } = stuck();
    for (let n = 0; n < 20_000; n++) {
      writer.write(message(n), { isDroppable: true });
      expect(writer.queuedBytes).toBeLessThanOrEqual(limits.maxDroppableBytes);
    }
    sink.isReading = true;
    sink.emit("drain");
    expect(sink.numbers().at(-1)).toBe(19_999);
  });
});

test("a stream that fails or closes is told once, and later writes are ignored", () => {
  const reasons: (string | null)[] = [];
  const sink = new SlowSink();
  const writer = new FrameWriter(sink, { closed: (reason) => reasons.push(reason) });
  sink.emit("error");
  sink.emit("close");
  writer.write(message(1));
  expect(reasons).toEqual(["Writing failed: EPIPE."]);
  expect(sink.taken).toEqual([]);
});

test("any order of writes, stops and reads: nothing undroppable is lost, nothing is reordered or doubled", () => {
  const step = fc.constantFrom("keep", "drop", "stop", "read", "drain-one");
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const sink = new SlowSink();
      const writer = new FrameWriter(sink, { limits: { maxQueuedBytes: 1e6, maxDroppableBytes: 300 } });
      const mustArrive: number[] = [];
      for (const [n, action] of steps.entries()) {
        if (action === "keep") mustArrive.push(n);
        if (action === "keep" || action === "drop")
          writer.write(message(n), { isDroppable: action === "drop" });
        if (action === "stop") sink.isReading = false;
        if (action === "read") sink.isReading = true;
        if (action !== "keep" && action !== "drop" && action !== "stop" && writer.isFull) sink.emit("drain");
      }
      sink.isReading = true;
      sink.emit("drain");
      const numbers = sink.numbers();
      expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
      expect(numbers).toEqual(expect.arrayContaining(mustArrive));
    }),
  );
});
