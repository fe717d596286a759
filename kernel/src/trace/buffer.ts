import type { TraceLevel } from "../base/vocabulary/trace.ts";
import { severity } from "./query.ts";

/** Characters that may wait to be written. */
const maxBufferedLength = 4 * 1024 * 1024;

interface Line {
  readonly level: TraceLevel;
  readonly text: string;
}

export interface Taken {
  readonly text: string;
  readonly dropped: Readonly<Record<string, number>> | null;
  /** Returns lines that could not be written; they wait again, before all newer ones. */
  putBack(): void;
}

/** Lines that wait for the disk. When there are too many, the least important ones are dropped first, and counted. */
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

  /** Returns the lines, newest first. */
  newestFirst(): readonly string[] {
    return this.#lines.map((line) => line.text).toReversed();
  }

  /** Returns all lines as one text, and how many of each level were dropped before. Empties the buffer. */
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

  /** Drops all waiting lines of the lowest level at once, so that a flood costs little per line. */
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
