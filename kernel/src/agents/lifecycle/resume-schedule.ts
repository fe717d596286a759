import { illegalTransition, invalidParams } from "../../base/errors.ts";
import type { Agent, AgentCommand } from "../../base/vocabulary/agent.ts";
import { actorWords, lineageUnder, type Principal } from "../../base/vocabulary/principal.ts";
import type { Schedules } from "../delivery/schedules.ts";
import type { Supervisor } from "./supervisor.ts";

/**
 * Resumes the suspended schedule at index `at` of `Agent.hooks`, on behalf of `by`. Rejects with InvalidParams if there is
 * no such hook or the command is not "resume", and with IllegalTransition if the schedule is not suspended.
 */
export async function resumeSchedule(
  by: Principal,
  supervisor: Supervisor,
  schedules: Pick<Schedules<unknown>, "resume">,
  command: AgentCommand,
  at: number,
): Promise<Agent> {
  if (command !== "resume")
    throw invalidParams(`Only "resume" is for a schedule, not "${command}".`, { path: "command" });
  const hook = supervisor.definition.hooks[at];
  if (hook === undefined) throw invalidParams(`The agent has no hook ${at}.`, { path: "hook" });
  if (!(await schedules.resume(supervisor.id, hook)))
    throw illegalTransition(supervisor.state, `${hook.handler} has no suspended schedule.`);
  const { onBehalfOf } = lineageUnder(by);
  const said = `the schedule of ${hook.handler} was resumed by ${actorWords(by)}`;
  supervisor.trace("info", said, {}, { onBehalfOf });
  supervisor.announce();
  return supervisor.describe();
}
