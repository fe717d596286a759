import { Type } from "typebox";
import { AgentState } from "../../../base/vocabulary/agent.ts";
import { closed, Timestamp } from "../../../base/vocabulary/common.ts";
import { define } from "../../define.ts";

const Health = Type.Object(
  {
    id: Type.String({ description: "The agent's id" }),
    state: Type.Union(AgentState.anyOf, { description: "Where it is in its life" }),
    since: Timestamp("When it came into its state"),
    disabled: Type.Optional(Type.Literal(true, { description: "A person disabled it" })),
    awaiting: Type.Optional(
      Type.Literal("acceptance", {
        description: "It is in `Error` only because a person has not accepted it yet",
      }),
    ),
    failing: Type.Optional(
      Type.Literal(true, {
        description: "Its last handler, job or tool failed, and none has succeeded since",
      }),
    ),
    suspended_schedules: Type.Integer({
      minimum: 0,
      description: "Its schedules that are suspended because they failed three times in a row",
    }),
    events_failed: Type.Integer({
      minimum: 0,
      description: "Events that its handlers answered with an error",
    }),
    jobs_failed: Type.Integer({ minimum: 0, description: "Jobs that ended with an error" }),
  },
  { ...closed, description: "How an agent is" },
);

/** How the agents of the workspace are. */
export const agentCalls = define({
  "agents/list": {
    about:
      "Returns the agents of the workspace and how they are, by id. No text of theirs is in it, such as an error, which could hold what the caller may not read. Counts are since the kernel started.",
    errors: { PermissionDenied: "The agent has no `see_agents`." },
    params: Type.Object({}, closed),
    result: Type.Object({ agents: Type.Array(Health, { description: "All agents" }) }, closed),
  },
});
