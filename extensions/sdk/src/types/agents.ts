/** How an agent is. No text of its own is in it. Counts are since the kernel started. */
export interface AgentHealth {
  readonly id: string;
  readonly state: "Unloaded" | "Initializing" | "Active" | "Suspended" | "Error" | "ShuttingDown";
  /** ISO 8601: when it came into its state. */
  readonly since: string;
  /** A person disabled it. */
  readonly disabled?: true;
  /** It is in `Error` only because a person has not accepted it yet. */
  readonly awaiting?: "acceptance";
  /** Its last handler, job or tool failed, and none has succeeded since. */
  readonly failing?: true;
  /** Schedules that are suspended because they failed three times in a row. */
  readonly suspended_schedules: number;
  readonly events_failed: number;
  readonly jobs_failed: number;
}
