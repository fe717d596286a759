import type { Clock } from "../../base/clock.ts";
import { LaresError } from "../../base/errors.ts";
import type { AgentBody, AgentDefinition, SupervisorPorts } from "../ports.ts";
import { bootGuest, endGuest } from "./boot.ts";

type BodyPorts = Pick<SupervisorPorts, "acquireSlot" | "adoptTypes" | "startGuest" | "kernelBody">;

/** Returns what runs an agent. No other code distinguishes agents with a program from those without one. */
export function bodyOf(definition: AgentDefinition, ports: BodyPorts, clock: Clock): AgentBody {
  switch (definition.body) {
    case "guest":
      return guestBody(ports, clock);
    case "kernel":
      return ports.kernelBody?.(definition) ?? missingBody;
  }
}

/** A guest in the sandbox: occupies one of the limited places and speaks its ABI. */
function guestBody(ports: BodyPorts, clock: Clock): AgentBody {
  return {
    takePlace: (agent) => ports.acquireSlot(agent),
    start: (definition, handlers) => ports.startGuest(definition, handlers),
    boot: (definition, ask, heard) => bootGuest(definition, ask, heard, ports.adoptTypes),
    end: (session) => endGuest(session, clock),
  };
}

const missingBody: AgentBody = {
  takePlace: async () => ({ [Symbol.dispose]: () => undefined }),
  start: async ({ id }) => {
    throw new LaresError("AgentError", `${id} has no program, and this kernel runs no agent without one.`);
  },
  boot: async () => undefined,
  end: (session) => session.kill(),
};
