/** The CPU time that an owner has left, in milliseconds. Work that others do on the owner's behalf is charged to it. */
export interface CpuBudget {
  /** The name of the limit, as people set it. */
  readonly limit: string;
  readonly allowedMs: number;
  leftMs(): number;
  /** Charges time that was used on the owner's behalf. */
  charge(ms: number): void;
}

/** For work that a person asked for. */
export const unlimitedCpu: CpuBudget = {
  limit: "none",
  allowedMs: Number.POSITIVE_INFINITY,
  leftMs: () => Number.POSITIVE_INFINITY,
  charge: () => undefined,
};
