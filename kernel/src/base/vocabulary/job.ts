import { Type, type Static } from "typebox";
import { closed, Timestamp } from "./common.ts";

export const JobState = Type.Union([
  Type.Literal("Waiting"),
  Type.Literal("Running"),
  Type.Literal("Cancelling", {
    description: "A person cancelled it, and its agent has not let go of it yet",
  }),
  Type.Literal("Cancelled", { description: "Only in the answer to lares/jobs/cancel: it had not begun" }),
]);
export type JobState = Static<typeof JobState>;

/** An agent's job that has not ended. What it is called and says of itself are the extension's words. */
export const Job = Type.Object(
  {
    id: Type.String(),
    agent: Type.String(),
    name: Type.String({ description: "As its agent's program names it" }),
    state: JobState,
    priority: Type.Union([Type.Literal("low"), Type.Literal("normal"), Type.Literal("high")]),
    when_idle: Type.Boolean({ description: "It begins only when nothing else is to be done" }),
    key: Type.Optional(
      Type.String({ description: "Of its agent's jobs that have not ended only this one has it" }),
    ),
    dispatched: Timestamp,
    due: Type.Optional(Type.String({ description: "UTC, ISO 8601: it waits until then at least" })),
    attempt: Type.Integer({
      minimum: 1,
      description: "1, and one more each time its guest was lost under it since it began or last saved",
    }),
    progress: Type.Optional(
      Type.Object(
        {
          fraction: Type.Number({ minimum: 0, maximum: 1 }),
          message: Type.Optional(Type.String()),
        },
        closed,
      ),
    ),
    checkpoint: Type.Boolean({ description: "It has saved how far it is, and goes on from there" }),
  },
  closed,
);
export type Job = Static<typeof Job>;

/** A job that has not ended, as the ledger has it. */
export interface KeptJob {
  readonly id: string;
  readonly agent: string;
  readonly name: string;
  readonly key: string | null;
  readonly priority: Job["priority"];
  readonly whenIdle: boolean;
  /** Times that its guest was lost under it since it began or since its last checkpoint. */
  readonly attempts: number;
  /** Milliseconds since 1970; 0 where it need not wait. */
  readonly dueAt: number;
  readonly dispatchedAt: number;
  readonly hasCheckpoint: boolean;
}
