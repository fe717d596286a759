import type { Place } from "../base/vocabulary/common.ts";
import type { Basis } from "../policy/approval.ts";

/** The reason for a decision, as stored with the action. */
export type KeptBasis = Omit<Basis, "setting"> & {
  readonly setting?: Basis["setting"] | "approvals.expire_after";
};

/** Where a rule or a setting is written, and the remembered decision that the rule belongs to. */
export interface Origin {
  readonly place?: Place;
  readonly decision?: string;
}
