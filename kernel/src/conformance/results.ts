/** The result of one rule. `not_applicable`: it depends on something that the guest does not have, or was not tried. */
type RuleStatus = "holds" | "violated" | "not_applicable";

export interface RuleResult {
  /** A short name, such as "unknown-method". */
  readonly rule: string;
  /** What the contract demands, as a sentence. */
  readonly title: string;
  readonly status: RuleStatus;
  /** The observation, as a sentence. May hold text of the guest. */
  readonly detail: string;
}

/** The guest violates the rule that is being tried. */
export class Violation extends Error {
  override readonly name = "Violation";
}

/** The rule cannot be judged, because the guest violated another one meanwhile. */
export class OtherViolation extends Error {
  override readonly name = "OtherViolation";
}

/** How a scenario ended that found no violation. */
export interface Verdict {
  readonly status: Exclude<RuleStatus, "violated">;
  readonly detail: string;
}

export const holds = (detail: string): Verdict => ({ status: "holds", detail });
export const notApplicable = (detail: string): Verdict => ({ status: "not_applicable", detail });
