/** The progress of a tool's call, as its handler reports it. */
export interface ToolProgress {
  /** From 0 to 1. */
  readonly fraction: number;
  /** What it is doing, for a person. */
  readonly message?: string;
}

/** Receives intermediate results of a service before its final result. Never throws. */
export type ProgressSink = (progress: ToolProgress) => void;
