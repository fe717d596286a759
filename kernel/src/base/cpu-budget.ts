/** The CPU time that somebody may still use, whoever uses it for them. Milliseconds. */
export interface CpuBudget {
  /** The name of the limit, as people set it. */
  readonly limit: string;
  readonly allowedMs: number;
  leftMs(): number;
  /** Counts time that was used on the owner's behalf. */
  charge(ms: number): void;
}

/** For work that a person asked for. */
export const unlimitedCpu: CpuBudget = {
  limit: "none",
  allowedMs: Number.POSITIVE_INFINITY,
  leftMs: () => Number.POSITIVE_INFINITY,
  charge: () => undefined,
};
