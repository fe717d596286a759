import type { Row } from "./report.ts";

export interface RunOptions {
  /** Fewer samples, for a check that nothing fell over: the marks then say little. */
  readonly isShort: boolean;
  /** A line about how far it is. */
  say(line: string): void;
}

export interface Figure {
  readonly name: string;
  /** What is measured, in one sentence. */
  readonly title: string;
  run(options: RunOptions): Promise<readonly Row[]>;
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
