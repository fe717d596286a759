import type { AgentDefinition, GuestHandlers, GuestSession } from "../agents/ports.ts";
import type { Clock } from "../base/clock.ts";
import { isLaresError, LaresError } from "../base/errors.ts";
import { wireCodes } from "../protocol/errors.ts";
import { openGuestSession } from "../sandbox/abi/v1/session.ts";
import { mapStack } from "../sandbox/guest/stack.ts";
import type { SandboxHost } from "../sandbox/host/sandbox-host.ts";
import type { Program } from "./programs.ts";

export interface GuestPorts {
  readonly sandbox: SandboxHost<Program>;
  readonly clock: Clock;
  programOf(definition: AgentDefinition): Program;
}

/** Starts an agent's guest in the sandbox and speaks the ABI with it. */
export async function startGuest(
  ports: GuestPorts,
  definition: AgentDefinition,
  handlers: GuestHandlers,
): Promise<GuestSession> {
  const program = ports.programOf(definition);
  const { limits } = definition;
  const guest = await ports.sandbox.start(program, {
    agent: definition.id,
    maxMemoryMb: limits.max_memory_mb,
  });
  const readable = (text: string): string =>
    program.sourceMap === undefined ? text : mapStack(text, program.sourceMap);
  let isGone = false;
  // Registered first, so that it is known when the open requests are rejected for it.
  void guest.exited.then(() => (isGone = true));
  guest.stderr.on((text) => handlers.stderr(readable(text)));
  const session = openGuestSession(
    guest,
    {
      clock: ports.clock,
      errors: wireCodes,
      call: handlers.call,
      notify: handlers.notify,
      fault: handlers.stderr,
    },
    { maxCpuMs: limits.max_cpu_ms_per_event, maxWallMs: limits.max_wall_ms_per_event },
  );
  return {
    request: (method, params) =>
      session.request(method, params).catch((error: unknown) => {
        throw isGone ? error : answeredError(error, readable);
      }),
    usage: session.usage,
    ended: session.ended,
    kill: () => session.kill(),
  };
}

/** An error the guest answered with. It is the program's word: it cannot pass for the kernel's own AgentError. */
function answeredError(error: unknown, readable: (text: string) => string): unknown {
  if (!isLaresError(error)) return error;
  const { stack, ...facts } = error.facts;
  const mapped = typeof stack === "string" ? { ...facts, stack: readable(stack) } : facts;
  return new LaresError(
    error.code === "AgentError" ? "ToolError" : error.code,
    readable(error.message),
    mapped,
  );
}
