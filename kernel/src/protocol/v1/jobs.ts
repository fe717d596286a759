import { Type } from "typebox";
import { Job } from "../../base/vocabulary/job.ts";
import { define } from "../define.ts";
import { Named, OfAgent } from "../../base/vocabulary/request-fields.ts";

export const jobRequests = define({
  "lares/jobs/list": {
    about:
      'Returns jobs that have not ended: those that run, then those that wait, the most urgent first and in the order in which they were dispatched. With `state: "dead"` those that were given up after three failed attempts, the latest first; the latest 1,000 of each agent are kept.',
    errors: {},
    params: Type.Object({
      agent: OfAgent,
      state: Type.Optional(
        Type.Literal("dead", { description: "Returns dead jobs instead of those that have not ended" }),
      ),
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: "How many to answer at most" }),
      ),
    }),
    result: Type.Object({
      items: Type.Array(Job, { description: "The jobs" }),
      total: Type.Integer({ minimum: 0, description: "How many there are, beyond `limit` too" }),
    }),
  },
  "lares/jobs/cancel": {
    about:
      "Cancels a job and returns it once it is on the disk that the job will not run again. A job that had not begun is `Cancelled`. A running one is `Cancelling`: its agent is told to leave it, and its program is ended where it does not. The job's key is free with the answer. What the job did until then stays.",
    errors: {
      NotFound:
        "There is no such job, it belongs to another agent than `agent`, or it ended before the last 1,000 of its agent's.",
      IllegalTransition: "The job has ended. `data.state` says how: `Completed`, `Failed` or `Cancelled`.",
    },
    params: Type.Object({
      id: Named("The job's id"),
      agent: Type.Optional(Named("Whose job it has to be; default any agent's")),
    }),
    result: Job,
  },
  "lares/jobs/retry": {
    about:
      "Lets a dead job run again, from its last checkpoint and with three attempts, at the end of its agent's line. The answer comes once that is on the disk.",
    errors: {
      NotFound: "There is no dead job with this id.",
      IllegalTransition:
        "The job died under an older kernel, which did not store on whose behalf it ran. It can only be removed.",
      Conflict: "Another job of its agent has the same key and has not ended.",
      LimitExceeded: "Its agent has too many jobs that have not ended.",
    },
    params: Type.Object({ id: Named("The job's id") }),
    result: Job,
  },
  "lares/jobs/remove": {
    about: "Removes a dead job for good, with its input, its checkpoint and the results of its tasks.",
    errors: { NotFound: "There is no dead job with this id." },
    params: Type.Object({ id: Named("The job's id") }),
    result: Job,
  },
});
