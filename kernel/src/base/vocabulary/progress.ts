/** How far a tool's call is, as its handler says. */
export interface ToolProgress {
  /** From 0 to 1. */
  readonly fraction: number;
  /** What it does now, for a person. */
  readonly message?: string;
}

/** Where a service puts what it has before its result is there. Never throws. */
export type ProgressSink = (progress: ToolProgress) => void;
