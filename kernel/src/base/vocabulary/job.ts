import { Type, type Static } from "typebox";
import { closed, Timestamp } from "./common.ts";

export const JobState = Type.Union(
  [
    Type.Literal("Waiting", { description: "It has not begun, or waits to be tried again" }),
    Type.Literal("Running", { description: "Its agent works on it" }),
    Type.Literal("Cancelling", { description: "A person cancelled it, and its agent has not left it yet" }),
    Type.Literal("Cancelled", {
      description: "Only in the answer to `lares/jobs/cancel`: it had not begun",
    }),
    Type.Literal("Dead", {
      description: "It was given up after three failed attempts, until a person retries or removes it",
    }),
  ],
  { description: "Where a job is" },
);
export type JobState = Static<typeof JobState>;

/** An agent's job that has not ended. Its name and progress text come from the extension. */
export const Job = Type.Object(
  {
    id: Type.String({ description: "The job's id" }),
    agent: Type.String({ description: "The id of the agent whose job it is" }),
    name: Type.String({ description: "The function under `jobs` of the program" }),
    state: JobState,
    priority: Type.Union([Type.Literal("low"), Type.Literal("normal"), Type.Literal("high")], {
      description: "An agent's more urgent jobs run first",
    }),
    when_idle: Type.Boolean({ description: "It begins only when the workspace is quiet" }),
    key: Type.Optional(
      Type.String({ description: "No other job of its agent that has not ended has the same key" }),
    ),
    dispatched: Timestamp("When it was dispatched"),
    due: Type.Optional(Timestamp("It waits until then at least")),
    attempt: Type.Integer({
      minimum: 1,
      description:
        "1, and one more each time it failed or its program was lost since the job began or last saved a checkpoint",
    }),
    progress: Type.Optional(
      Type.Object(
        {
          fraction: Type.Number({ minimum: 0, maximum: 1, description: "How much of it is done" }),
          message: Type.Optional(Type.String({ description: "What it does now, in the agent's words" })),
        },
        { ...closed, description: "How far it said that it is" },
      ),
    ),
    checkpoint: Type.Boolean({ description: "It has saved a checkpoint, and continues from there" }),
    failed: Type.Optional(Timestamp("For a dead job: when it was given up")),
    error: Type.Optional(
      Type.String({ description: "For a dead job: its last error, in the program's words" }),
    ),
  },
  { ...closed, description: "Work that an agent dispatched to itself, and that has not ended or has died" },
);
export type Job = Static<typeof Job>;

/** A job that was given up, as stored in the ledger. */
export interface DeadJob extends Omit<KeptJob, "dueAt"> {
  /** Milliseconds since 1970. */
  readonly failedAt: number;
  /** Its last error. */
  readonly error: string;
}

/** A job that has not ended, as stored in the ledger. */
export interface KeptJob {
  readonly id: string;
  readonly agent: string;
  readonly name: string;
  readonly key: string | null;
  readonly priority: Job["priority"];
  readonly whenIdle: boolean;
  /** How often it failed or its guest was lost, since the job began or since its last checkpoint. */
  readonly attempts: number;
  /** How often its function failed, since it was dispatched or a person retried it. */
  readonly failures: number;
  /** Milliseconds since 1970; 0 if it does not have to wait. */
  readonly dueAt: number;
  readonly dispatchedAt: number;
  readonly hasCheckpoint: boolean;
}
