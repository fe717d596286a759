import { Type } from "typebox";
import { closed, Json } from "../../../base/vocabulary/common.ts";
import { define } from "../../define.ts";
import { Name, Nothing } from "./fields.ts";

const noJobs = "The agent has no `dispatch_jobs`.";
const notInJob =
  "The guest has no job in hand, or a person cancelled the one it has. `data.state` is `no job` or `Cancelled`.";

/** Longer work that an agent dispatches to itself. */
export const jobCalls = define({
  "jobs/dispatch": {
    about:
      "Stores a job and returns its id; the kernel hands it back to this agent with `job`, after a restart too. While a job with the same `key` has not ended, its id is returned and nothing is stored. A job is tried three times from its last checkpoint, whether its guest was lost or its handler answered with an error; then it is dead, until a person retries it. Lost guests are counted since the last checkpoint, errors since the dispatch.",
    errors: {
      PermissionDenied: noJobs,
      NotFound: "The program did not name such a job in its answer to `initialize`.",
      LimitExceeded:
        "`input` is over 256 KiB of JSON, or this agent's jobs that have not ended are 10,000 or have 64 MiB together.",
    },
    params: Type.Object(
      {
        name: Name("The job, one of those that the program named in its answer to `initialize`"),
        input: Json("The input of the job, any JSON of at most 256 KiB"),
        priority: Type.Optional(
          Type.Union([Type.Literal("low"), Type.Literal("normal"), Type.Literal("high")], {
            default: "normal",
            description: "The agent's more urgent jobs run first",
          }),
        ),
        when_idle: Type.Optional(
          Type.Boolean({ default: false, description: "Begins only when the workspace is quiet" }),
        ),
        key: Type.Optional(
          Name("Chosen by the agent, so that the same job is not dispatched twice; default none"),
        ),
      },
      closed,
    ),
    result: Type.Object({ id: Type.String({ description: "The job's id" }) }),
  },
  "jobs/task": {
    about:
      "Runs a part of the job in hand once, and returns its result: the kernel sends this guest `task`, and stores the answer before it returns it. A task is known by its job, its name and its input; asked for again, after a restart too, its stored result is returned. Results end with their job. At most `agent.concurrency` of the manifest run at a time.",
    errors: {
      PermissionDenied: noJobs,
      IllegalTransition: notInJob,
      NotFound: "The program did not name such a task in its answer to `initialize`.",
      ToolError: "Every attempt failed. The message has the last error.",
      LimitExceeded:
        "The result is over 256 KiB of JSON, 10,000 tasks of the job are done, or the agent's results have 64 MiB together.",
    },
    params: Type.Object(
      {
        name: Name("The task, one of those that the program named in its answer to `initialize`"),
        input: Json("The input of the task, any JSON of at most 256 KiB"),
        attempts: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 10, default: 3, description: "How often it is tried" }),
        ),
        backoff: Type.Optional(
          Type.String({
            pattern: "^[0-9]{1,9}(?:ms|s|m)$",
            default: "1s",
            description:
              "The wait before the second attempt, as 500ms, 1s or 2m; doubled before each further one, at most 10 minutes",
          }),
        ),
      },
      closed,
    ),
    result: Type.Object({ result: Type.Unknown({ description: "What the task answered" }) }),
  },
  "jobs/progress": {
    about: "Says how far the job in hand is. Clients show it.",
    errors: { PermissionDenied: noJobs, IllegalTransition: notInJob },
    params: Type.Object(
      {
        fraction: Type.Number({ minimum: 0, maximum: 1, description: "How much of it is done" }),
        message: Type.Optional(
          Type.String({ maxLength: 1000, description: "What it does now, for a person" }),
        ),
      },
      closed,
    ),
    result: Nothing,
  },
  "jobs/checkpoint": {
    about:
      "Stores a checkpoint from which the current job continues later. The next guest receives it with `job`. The job's CPU budget restarts.",
    errors: {
      PermissionDenied: noJobs,
      IllegalTransition: notInJob,
      LimitExceeded: "`data` is over 256 KiB of JSON, or the agent's jobs have 64 MiB together.",
    },
    params: Type.Object({ data: Json("Any JSON of at most 256 KiB; it replaces the one before") }, closed),
    result: Nothing,
  },
});
