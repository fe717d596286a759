import { Type } from "typebox";
import { Job } from "../../base/vocabulary/job.ts";
import { define } from "../define.ts";
import { Named, OfAgent } from "../../base/vocabulary/request-fields.ts";

export const jobRequests = define({
  "lares/jobs/list": {
    about:
      "Returns jobs that have not ended: those that run, then those that wait, the most urgent first and in the order in which they were dispatched.",
    errors: {},
    params: Type.Object({
      agent: OfAgent,
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
});
