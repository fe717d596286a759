/** What bounds a connection's incoming side. One place, so that a test can tighten them and a reader find them. */
export interface FrameLimits {
  /** Largest body of a frame, in bytes. */
  readonly maxFrameBytes: number;
  /** Largest header block, its closing empty line included, in bytes. */
  readonly maxHeaderBytes: number;
  /** Deepest nesting of arrays and objects in a body. */
  readonly maxJsonDepth: number;
  /** So many bytes without a plausible header, and the stream counts as lost. */
  readonly maxSkippedBytes: number;
}

const mebibyte = 1024 * 1024;

/** What a client may send. */
export const clientFrameLimits: FrameLimits = {
  maxFrameBytes: 10 * mebibyte,
  maxHeaderBytes: 8 * 1024,
  maxJsonDepth: 200,
  maxSkippedBytes: 64 * mebibyte,
};

/** What the kernel may send: it answers with more than it is asked with. */
export const kernelFrameLimits: FrameLimits = { ...clientFrameLimits, maxFrameBytes: 32 * mebibyte };

/** What bounds a connection's outgoing side while the peer does not read. */
export interface QueueLimits {
  /** Everything that waits, in bytes; above it the connection is closed. */
  readonly maxQueuedBytes: number;
  /** The part of it that may be dropped (trace entries), in bytes; above it the oldest goes. */
  readonly maxDroppableBytes: number;
}

export const queueLimits: QueueLimits = { maxQueuedBytes: 64 * mebibyte, maxDroppableBytes: 4 * mebibyte };
