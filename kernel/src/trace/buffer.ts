import type { TraceLevel } from "../base/vocabulary/trace.ts";
import { severity } from "./query.ts";

/** Characters that may wait to be written. */
export const maxBufferedLength = 4 * 1024 * 1024;

interface Line {
  readonly level: TraceLevel;
  readonly text: string;
}

export interface Taken {
  readonly text: string;
  readonly dropped: Readonly<Record<string, number>> | null;
  /** They could not be written: they wait again, before all that came meanwhile. */
  putBack(): void;
}

/** Lines that wait for the disk. When there are too many, the least important ones go first, and are counted. */
export class TraceBuffer {
  readonly #maxLength: number;
  #lines: Line[] = [];
  #length = 0;
  #dropped = new Map<TraceLevel, number>();

  constructor(maxLength = maxBufferedLength) {
    this.#maxLength = maxLength;
  }

  get length(): number {
    return this.#length;
  }

  add(level: TraceLevel, text: string): void {
    this.#lines.push({ level, text });
    this.#length += text.length;
    if (this.#length > this.#maxLength) this.#shrink();
  }

  /** Newest first. */
  newestFirst(): readonly string[] {
    return this.#lines.map((line) => line.text).toReversed();
  }

  /** All lines as one text, and how many of each level were dropped before; then it is empty. */
  take(): Taken {
    const lines = this.#lines;
    const dropped = this.#dropped;
    this.#lines = [];
    this.#length = 0;
    this.#dropped = new Map();
    return {
      text: lines.map((line) => line.text).join(""),
      dropped: dropped.size === 0 ? null : Object.fromEntries(dropped),
      putBack: () => {
        this.#lines = [...lines, ...this.#lines];
        this.#length = this.#lines.reduce((sum, { text }) => sum + text.length, 0);
        for (const [level, count] of dropped)
          this.#dropped.set(level, (this.#dropped.get(level) ?? 0) + count);
        while (this.#length > this.#maxLength) this.#shrink();
      },
    };
  }

  /** Everything of the lowest level that waits; at once, so that a flood costs little for each line. */
  #shrink(): void {
    const lowest = this.#lines.reduce((low, { level }) => Math.min(low, severity(level)), Infinity);
    this.#lines = this.#lines.filter(({ level, text }) => {
      if (severity(level) > lowest) return true;
      this.#length -= text.length;
      this.#dropped.set(level, (this.#dropped.get(level) ?? 0) + 1);
      return false;
    });
  }
}
