import type { AgentBody, AgentSession, GuestEnd, GuestUsage } from "../agents/ports.ts";
import { unlimitedCpu } from "../base/cpu-budget.ts";
import { Emitter } from "../base/emitter.ts";
import { LaresError, requestCancelled } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";
import type { LaresEvent } from "../base/vocabulary/event.ts";
import type { SchedulePrompt } from "../minds/scheduled.ts";
import type { AgentDefinition } from "../base/vocabulary/agent-definition.ts";
import { isMadeHandler } from "../base/vocabulary/made-schedule.ts";

/**
 * Returns the body of an agent without a program. It takes no place among the loaded agents. Its mind runs in conversations,
 * not in its session, which only exists.
 */
export function mindBody(
  agent: Pick<AgentDefinition, "id">,
  hooksNow: () => AgentDefinition["hooks"],
  run: RunPrompt,
): AgentBody {
  return {
    takePlace: async () => ({ [Symbol.dispose]: () => undefined }),
    start: async () => withPrompts(idleSession(agent.id), agent.id, hooksNow, run),
    boot: async (_definition, _ask, heard) =>
      heard({ maxOpenHooks: 1, jobs: new Set(), tasks: new Set(), cancelsTools: false }),
    end: (session) => session.kill(),
  };
}

function idleSession(agent: string): AgentSession {
  const { promise: ended, resolve: end } = Promise.withResolvers<GuestEnd>();
  const gone = new AbortController();
  void ended.then(({ reason }) => gone.abort(requestCancelled(`The agent has ended. ${reason}`)));
  return {
    request: async (method) => {
      throw new LaresError(
        "AgentError",
        `${agent} has no program, so there is nothing in it that answers "${method}". People can talk to it.`,
      );
    },
    usage: new Emitter<GuestUsage>(),
    ended,
    restartBudget: () => undefined,
    gone: gone.signal,
    cpu: unlimitedCpu,
    kill: async () => end({ reason: "It was unloaded." }),
  };
}

/** Gives a mind the prompt of a schedule; resolves when it is in a log. `handler`: its hook's. */
export type RunPrompt = (
  agent: string,
  prompt: SchedulePrompt,
  event: LaresEvent,
  handler: string,
) => Promise<void>;

/**
 * Returns a session in which prompts of schedules go to the agent's mind, and everything else to the session. `hooksNow`
 * returns the agent's hooks as they are now: schedules that minds make come and go while it runs.
 */
export function withPrompts(
  session: AgentSession,
  agent: string,
  hooksNow: () => AgentDefinition["hooks"],
  run: RunPrompt,
): AgentSession {
  return {
    ...session,
    request: async (method, params) => {
      const { handler = "", event } = (isJsonObject(params) ? params : {}) as {
        handler?: string;
        event?: LaresEvent;
      };
      if (method !== "hook" || event === undefined) return await session.request(method, params);
      const hook = hooksNow().find((each) => each.prompt !== undefined && each.handler === handler);
      if (hook?.prompt === undefined)
        // It may have been removed while a run of it waited.
        return isMadeHandler(handler) ? {} : await session.request(method, params);
      await run(agent, { ...hook.prompt, timezone: hook.timing?.timezone ?? "UTC" }, event, handler);
      return {};
    },
  };
}
