/** The fields of every event. */
export interface EventBase {
  readonly id: string;
  readonly name: string;
  /** UTC, ISO 8601 with milliseconds. */
  readonly timestamp: string;
}
