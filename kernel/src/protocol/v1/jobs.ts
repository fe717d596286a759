import { Type } from "typebox";
import { Job } from "../../base/vocabulary/job.ts";
import { define } from "../define.ts";
import { Name } from "./fields.ts";

export const jobRequests = define({
  /** Those that run, then those that wait, most urgent first and as they were dispatched. `total`: how many there are. */
  "lares/jobs/list": {
    params: Type.Object({
      agent: Type.Optional(Name),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
    }),
    result: Type.Object({ items: Type.Array(Job), total: Type.Integer({ minimum: 0 }) }),
  },
  /**
   * Answered once it is kept that the job is not run again, with the job: it waited, or its agent is told to leave it.
   * NotFound where there is none, IllegalTransition where it has ended, with what became of it as the state.
   */
  "lares/jobs/cancel": {
    params: Type.Object({ id: Name, agent: Type.Optional(Name) }),
    result: Job,
  },
});
