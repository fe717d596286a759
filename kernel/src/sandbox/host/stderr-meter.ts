import { hostBounds as bounds } from "./bounds.ts";

export const windowMs = 1000;

/** Turns a guest's stderr into bounded text and counts the bytes it drops. */
export class StderrMeter {
  readonly #emit: (text: string) => void;
  readonly #decoder = new TextDecoder();
  #windowStart = Number.NEGATIVE_INFINITY;
  #readInWindow = 0;
  #dropped = 0;

  constructor(emit: (text: string) => void) {
    this.#emit = emit;
  }

  /** Processes a chunk. Returns the milliseconds for which stderr should not be read. */
  take(chunk: Uint8Array, nowMs: number): number {
    if (nowMs - this.#windowStart >= windowMs) {
      this.report();
      this.#windowStart = nowMs;
      this.#readInWindow = 0;
    }
    const room = Math.max(0, bounds.maxStderrBytesPerSecond - this.#readInWindow);
    const kept = chunk.subarray(0, room);
    this.#readInWindow += chunk.length;
    this.#dropped += chunk.length - kept.length;
    if (kept.length > 0) this.#emit(this.#decoder.decode(kept, { stream: true }));
    const isOver = this.#readInWindow >= bounds.maxStderrReadBytesPerSecond;
    return isOver ? Math.max(0, this.#windowStart + windowMs - nowMs) : 0;
  }

  /** Reports the bytes dropped since the last report. Called periodically and at the end. */
  report(): void {
    if (this.#dropped === 0) return;
    this.#emit(
      `\n… ${this.#dropped} bytes of stderr were dropped (more than ${bounds.maxStderrBytesPerSecond} in a second)\n`,
    );
    this.#dropped = 0;
  }

  get hasDropped(): boolean {
    return this.#dropped > 0;
  }
}
