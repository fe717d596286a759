import type { Action } from "../types/action.ts";
import type { HistoryItem } from "../types/memory.ts";

/** The calls of a handler, in order. */
export interface Recorded {
  /** Every call of the ABI, including refused ones. */
  readonly calls: { method: string; params: Readonly<Record<string, unknown>> }[];
  readonly actions: Action[];
  readonly traces: { level: string; message: string; fields?: Readonly<Record<string, unknown>> }[];
  readonly notifications: Readonly<Record<string, unknown>>[];
  readonly jobs: Readonly<Record<string, unknown>>[];
  readonly events: Readonly<Record<string, unknown>>[];
  readonly history: HistoryItem[];
}
