import { messageOf } from "../../base/errors.ts";
import { Fifo } from "../../base/fifo.ts";
import { queueLimits, type QueueLimits } from "./limits.ts";
import type { ByteSink } from "./streams.ts";

export interface FrameWriterOptions {
  readonly limits?: QueueLimits;
  /** The stream takes bytes again, and everything queued was handed to it. */
  readonly drained?: () => void;
  /** So many droppable frames were thrown away since the last call, because the peer did not read. */
  readonly dropped?: (frames: number) => void;
  /** Nothing can be written any more. `reason` is null when the stream simply closed. Called once. */
  readonly closed?: (reason: string | null) => void;
}

/**
 * What may become of a frame while the peer does not read: nothing; or it gives way when too much waits; or it takes the
 * place of the one that waits with the same key, for what that says is over.
 */
export type Delivery = "must arrive" | "droppable" | { readonly replaces: string };

interface QueuedFrame {
  /** Null once it was sent, dropped or replaced. */
  bytes: Uint8Array | null;
  readonly delivery: Delivery;
}

/** So many dropped and replaced frames may leave holes in the queue before it is packed. */
const holesBeforePacking = 1024;

const encoder = new TextEncoder();

/**
 * Writes frames with back-pressure. While the peer does not read, frames wait up to a limit: droppable ones give way oldest
 * first, of those that replace each other the last waits, and when the others alone are too many the connection is given up.
 */
export class FrameWriter {
  readonly #sink: ByteSink;
  readonly #options: FrameWriterOptions;
  readonly #limits: QueueLimits;
  readonly #queue = new Fifo<QueuedFrame>();
  /** Those of the queue that may be dropped, oldest first. */
  readonly #droppable = new Fifo<QueuedFrame>();
  #droppableBytes = 0;
  /** Those of the queue that the next one with the same key takes the place of. */
  readonly #replaceable = new Map<string, QueuedFrame>();
  #queuedBytes = 0;
  #droppedFrames = 0;
  #holes = 0;
  #isFull = false;
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

  /** Bytes that wait here, beyond what the stream itself has taken. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** Sends one message's body, or queues it. Ignored once closed. */
  write(body: Uint8Array | string, delivery: Delivery = "must arrive"): void {
    if (this.#isClosed) return;
    const bytes = frameOf(typeof body === "string" ? encoder.encode(body) : body);
    if (!this.#isFull) this.#isFull = !this.#sink.write(bytes);
    else this.#enqueue({ bytes, delivery });
  }

  /** Sends what waits, then ends the stream. */
  end(done?: () => void): void {
    if (this.#isClosed) {
      done?.();
      return;
    }
    for (let bytes = this.#next(); bytes; bytes = this.#next()) this.#sink.write(bytes);
    this.#isClosed = true;
    this.#sink.end(done);
  }

  #enqueue(frame: QueuedFrame & { bytes: Uint8Array }): void {
    this.#queue.push(frame);
    this.#queuedBytes += frame.bytes.length;
    const { delivery } = frame;
    if (delivery === "droppable") {
      this.#droppable.push(frame);
      this.#droppableBytes += frame.bytes.length;
    } else if (delivery !== "must arrive") {
      // At the end, not in the other's place: it may be about what was sent in between.
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

  /** Takes the oldest frame that is still there. */
  #next(): Uint8Array | null {
    for (let frame = this.#queue.shift(); frame; frame = this.#queue.shift()) {
      const { bytes } = frame;
      if (!bytes) {
        this.#holes--;
        continue;
      }
      this.#release(frame, bytes);
      const { delivery } = frame;
      // The oldest of the queue is the oldest of its droppable part, too.
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
