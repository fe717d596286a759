import type { AgentBody, AgentSession, GuestEnd, GuestUsage } from "../../agents/ports.ts";
import { unlimitedCpu } from "../../base/cpu-budget.ts";
import { Emitter } from "../../base/emitter.ts";
import { LaresError, requestCancelled } from "../../base/errors.ts";
import type { AgentDefinition } from "../../base/vocabulary/agent-definition.ts";

/**
 * Returns the body of an agent without a program. It takes no place among the loaded agents. Its mind runs in conversations,
 * not in its session, which only exists.
 */
export function mindBody({ id }: Pick<AgentDefinition, "id">): AgentBody {
  return {
    takePlace: async () => ({ [Symbol.dispose]: () => undefined }),
    start: async () => idleSession(id),
    boot: async (_definition, _ask, heard) =>
      heard({ maxOpenHooks: 1, jobs: new Set(), cancelsTools: false }),
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
