import { Type } from "typebox";
import { When } from "../../base/vocabulary/request-fields.ts";
import { UsageGroup, UsageGrouping } from "../../base/vocabulary/usage.ts";
import { define } from "../define.ts";

export const usageRequests = define({
  "lares/usage": {
    about:
      "Returns what requests to language models used, of all this user's workspaces, sorted by key. Usage is counted by day (UTC) and kept for 400 days.",
    errors: {},
    params: Type.Object({
      since: Type.Optional(When("Only from that day on")),
      until: Type.Optional(When("Only up to and with that day")),
      group_by: Type.Optional(UsageGrouping),
    }),
    result: Type.Object({ groups: Type.Array(UsageGroup, { description: "The sums" }) }),
  },
});
