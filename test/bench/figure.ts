import type { Row } from "./report.ts";

export interface RunOptions {
  /** Takes fewer samples, to check that everything runs: the figures then say little. */
  readonly isShort: boolean;
  /** Logs a line about the progress. */
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
