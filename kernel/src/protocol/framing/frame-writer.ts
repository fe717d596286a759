import { messageOf } from "../../base/errors.ts";
import { Fifo } from "../../base/fifo.ts";
import { queueLimits, type QueueLimits } from "./limits.ts";
import type { ByteSink } from "./streams.ts";

export interface FrameWriterOptions {
  readonly limits?: QueueLimits;
  /** The stream accepts bytes again, and all queued frames were written. */
  readonly drained?: () => void;
  /** Receives the number of frames dropped since the last call because the peer did not read. */
  readonly dropped?: (frames: number) => void;
  /** Writing is no longer possible. `reason` is null if the stream simply closed. Called once. */
  readonly closed?: (reason: string | null) => void;
}

/**
 * How a frame is treated while the peer does not read: it is kept; it is dropped if the queue is full; or it
 * replaces the queued frame with the same key, which it makes obsolete.
 */
export type Delivery = "must arrive" | "droppable" | { readonly replaces: string };

interface QueuedFrame {
  /** Null once it was sent, dropped or replaced. */
  bytes: Uint8Array | null;
  readonly delivery: Delivery;
}

/** Number of removed frames in the queue before it is compacted. */
const holesBeforePacking = 1024;

const encoder = new TextEncoder();

/**
 * Writes frames with back-pressure. While the peer does not read, frames wait up to a limit. Droppable frames are
 * dropped oldest first, replaceable ones keep only the latest, and if the others alone exceed the limit, the
 * connection is closed.
 */
export class FrameWriter {
  readonly #sink: ByteSink;
  readonly #options: FrameWriterOptions;
  readonly #limits: QueueLimits;
  readonly #queue = new Fifo<QueuedFrame>();
  /** The queue's droppable frames, oldest first. */
  readonly #droppable = new Fifo<QueuedFrame>();
  #droppableBytes = 0;
  /** The queue's replaceable frames by key. */
  readonly #replaceable = new Map<string, QueuedFrame>();
  #queuedBytes = 0;
  #droppedFrames = 0;
  #holes = 0;
  #isFull = false;
  #isCorked = false;
  #isClosed = false;

  constructor(sink: ByteSink, options: FrameWriterOptions = {}) {
    this.#sink = sink;
    this.#options = options;
    this.#limits = options.limits ?? queueLimits;
    sink.on("drain", () => this.#drain());
    sink.on("close", () => this.#close(null));
    sink.on("error", (error) => this.#close(`Writing failed: ${messageOf(error)}.`));
  }

  /** True while frames wait for the peer to read. */
  get isFull(): boolean {
    return this.#isFull;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Bytes that wait here, without those in the stream's own buffer. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** Sends or queues one message's body. Ignored once closed. */
  write(body: Uint8Array | string, delivery: Delivery = "must arrive"): void {
    if (this.#isClosed) return;
    const bytes = frameOf(typeof body === "string" ? encoder.encode(body) : body);
    if (!this.#isFull) this.#isFull = !this.#send(bytes);
    else this.#enqueue({ bytes, delivery });
  }

  /** Sends queued frames, then ends the stream. */
  end(done?: () => void): void {
    if (this.#isClosed) {
      done?.();
      return;
    }
    for (let bytes = this.#next(); bytes; bytes = this.#next()) this.#sink.write(bytes);
    this.#isClosed = true;
    this.#sink.end(done);
  }

  /** Frames of the same moment reach the operating system in one call. */
  #send(bytes: Uint8Array): boolean {
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.#sink.cork?.();
      queueMicrotask(() => {
        this.#isCorked = false;
        this.#sink.uncork?.();
      });
    }
    return this.#sink.write(bytes);
  }

  #enqueue(frame: QueuedFrame & { bytes: Uint8Array }): void {
    this.#queue.push(frame);
    this.#queuedBytes += frame.bytes.length;
    const { delivery } = frame;
    if (delivery === "droppable") {
      this.#droppable.push(frame);
      this.#droppableBytes += frame.bytes.length;
    } else if (delivery !== "must arrive") {
      // At the end instead of at the replaced frame's place: it may refer to frames sent in between.
      const before = this.#replaceable.get(delivery.replaces);
      this.#replaceable.set(delivery.replaces, frame);
      if (before?.bytes) this.#takeOut(before, before.bytes);
    }
    while (this.#droppableBytes > this.#limits.maxDroppableBytes) this.#dropOldest();
    while (this.#queuedBytes > this.#limits.maxQueuedBytes && this.#droppableBytes > 0) this.#dropOldest();
    if (this.#queuedBytes <= this.#limits.maxQueuedBytes) return;
    const waiting = this.#queuedBytes;
    this.#close(
      `The peer does not read: ${waiting} bytes wait for it, over the limit of ${this.#limits.maxQueuedBytes}.`,
    );
    this.#sink.destroy();
  }

  #dropOldest(): void {
    const oldest = this.#droppable.shift();
    if (!oldest?.bytes) return;
    this.#droppedFrames++;
    this.#takeOut(oldest, oldest.bytes);
  }

  #takeOut(frame: QueuedFrame, bytes: Uint8Array): void {
    this.#release(frame, bytes);
    if (++this.#holes < holesBeforePacking || this.#holes * 2 < this.#queue.length) return;
    this.#queue.filter((frame) => frame.bytes !== null);
    this.#holes = 0;
  }

  #drain(): void {
    if (this.#isClosed) return;
    this.#isFull = false;
    for (let bytes = this.#next(); bytes; bytes = this.#next()) {
      if (this.#sink.write(bytes)) continue;
      this.#isFull = true;
      return;
    }
    const dropped = this.#droppedFrames;
    this.#droppedFrames = 0;
    if (dropped > 0) this.#options.dropped?.(dropped);
    this.#options.drained?.();
  }

  /** Removes the oldest frame that is still queued. */
  #next(): Uint8Array | null {
    for (let frame = this.#queue.shift(); frame; frame = this.#queue.shift()) {
      const { bytes } = frame;
      if (!bytes) {
        this.#holes--;
        continue;
      }
      this.#release(frame, bytes);
      const { delivery } = frame;
      // The oldest frame of the queue is also the oldest droppable one.
      if (delivery === "droppable") this.#droppable.shift();
      else if (delivery !== "must arrive") this.#replaceable.delete(delivery.replaces);
      return bytes;
    }
    this.#droppable.clear();
    return null;
  }

  #release(frame: QueuedFrame, bytes: Uint8Array): void {
    frame.bytes = null;
    this.#queuedBytes -= bytes.length;
    if (frame.delivery === "droppable") this.#droppableBytes -= bytes.length;
  }

  #close(reason: string | null): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#queue.clear();
    this.#droppable.clear();
    this.#replaceable.clear();
    this.#options.closed?.(reason);
  }
}

function frameOf(body: Uint8Array): Uint8Array {
  const header = encoder.encode(`Content-Length: ${body.length}\r\n\r\n`);
  const frame = new Uint8Array(header.length + body.length);
  frame.set(header);
  frame.set(body, header.length);
  return frame;
}
