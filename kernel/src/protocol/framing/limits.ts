/** Bounds for a connection's incoming side, in one place so that tests can tighten them. */
export interface FrameLimits {
  /** Largest body of a frame, in bytes. */
  readonly maxFrameBytes: number;
  /** Largest header block, its closing empty line included, in bytes. */
  readonly maxHeaderBytes: number;
  /** Deepest nesting of arrays and objects in a body. */
  readonly maxJsonDepth: number;
  /** After this many bytes without a plausible header, the stream counts as unreadable. */
  readonly maxSkippedBytes: number;
}

const mebibyte = 1024 * 1024;

/** Bounds for a client's messages. */
export const clientFrameLimits: FrameLimits = {
  maxFrameBytes: 10 * mebibyte,
  maxHeaderBytes: 8 * 1024,
  maxJsonDepth: 200,
  maxSkippedBytes: 64 * mebibyte,
};

/** Bounds for the kernel's messages, whose answers are larger than requests. */
export const kernelFrameLimits: FrameLimits = { ...clientFrameLimits, maxFrameBytes: 32 * mebibyte };

/** Bounds for a connection's outgoing side while the peer does not read. */
export interface QueueLimits {
  /** All queued frames, in bytes; above it the connection is closed. */
  readonly maxQueuedBytes: number;
  /** The droppable frames (trace entries), in bytes; above it the oldest is dropped. */
  readonly maxDroppableBytes: number;
}

export const queueLimits: QueueLimits = { maxQueuedBytes: 64 * mebibyte, maxDroppableBytes: 4 * mebibyte };
