/** The kinds of status that a person should know about, the most urgent first. */
export const healthKinds = [
  "manifest",
  "error",
  "failed",
  "permission",
  "suspended",
  "changing",
  "working",
  "active",
  "asleep",
  "off",
] as const;
export type HealthKind = (typeof healthKinds)[number];
