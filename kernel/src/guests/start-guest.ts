import type { AgentDefinition, GuestHandlers, AgentSession } from "../agents/ports.ts";
import type { Clock } from "../base/clock.ts";
import { isLaresError, LaresError, requestCancelled } from "../base/errors.ts";
import type { Place } from "../base/vocabulary/common.ts";
import { join } from "../platform/files/paths.ts";
import { wireCodes } from "../protocol/errors.ts";
import { isAgentEnd } from "../sandbox/abi/v1/connection.ts";
import { openGuestSession } from "../sandbox/abi/v1/session.ts";
import { mapReportedLine, mapStack, placeInStack } from "../sandbox/guest/stack.ts";
import type { GuestProgram, SandboxHost } from "../sandbox/host/sandbox-host.ts";

interface MappedProgram extends GuestProgram {
  readonly sourceMap?: string;
}

interface GuestPorts<Program extends MappedProgram> {
  readonly sandbox: Pick<SandboxHost<Program>, "start">;
  readonly clock: Clock;
  readonly programs: {
    programOf(definition: AgentDefinition): Program;
    /** Returns the absolute folder of the extension; null if it is no longer known. */
    folderOf(agent: string): string | null;
  };
}

/** Starts an agent's guest in the sandbox and speaks the ABI with it. */
export async function startGuest<Program extends MappedProgram>(
  ports: GuestPorts<Program>,
  definition: AgentDefinition,
  handlers: GuestHandlers,
): Promise<AgentSession> {
  const program = ports.programs.programOf(definition);
  const { limits } = definition;
  const guest = await ports.sandbox.start(program, {
    agent: definition.id,
    maxMemoryMb: limits.max_memory_mb,
  });
  const readable = (text: string): string =>
    program.sourceMap === undefined ? text : mapStack(text, program.sourceMap);
  const placeOf = (stack: string): Place | null => {
    const folder = ports.programs.folderOf(definition.id);
    const found = program.sourceMap === undefined ? null : placeInStack(stack, program.sourceMap);
    return folder === null || found === null ? null : { path: join(folder, found.path), line: found.line };
  };
  guest.stderr.on((line) => {
    const text = mapReportedLine(line, program.sourceMap);
    if (text !== null) handlers.stderr(text);
  });
  const session = openGuestSession(
    guest,
    {
      clock: ports.clock,
      errors: wireCodes,
      call: (method, params, cancelled) => handlers.call(method, params, cancelled),
      notify: (method, params) => handlers.notify(method, params),
      fault: (text) => handlers.stderr(text),
    },
    { maxCpuMs: limits.max_cpu_ms_per_event, maxWallMs: limits.max_wall_ms_per_event },
  );
  const gone = new AbortController();
  void session.ended.then(({ reason }) => gone.abort(requestCancelled(`The agent has ended. ${reason}`)));
  return {
    gone: gone.signal,
    request: (method, params) =>
      session.request(method, params).catch((error: unknown) => {
        throw isAgentEnd(error) ? error : answeredError(error, readable, placeOf, limits.max_memory_mb);
      }),
    usage: session.usage,
    ended: session.ended,
    restartBudget: () => session.restartBudget(),
    cpu: session.cpu,
    kill: () => session.kill(),
  };
}

/** Returns the guest's error with readable places. A program's error cannot pass for the kernel's own AgentError. */
function answeredError(
  error: unknown,
  readable: (text: string) => string,
  placeOf: (stack: string) => Place | null,
  maxMemoryMb: number,
): unknown {
  if (!isLaresError(error)) return error;
  // A place that the guest chose could lead the user to any file.
  const { stack, place: _said, ...facts } = error.facts;
  const place = typeof stack === "string" ? placeOf(stack) : null;
  const mapped = {
    ...facts,
    ...(typeof stack === "string" ? { stack: readable(stack) } : {}),
    ...(place === null ? {} : { place: { ...place } }),
  };
  return new LaresError(
    error.code === "AgentError" ? "ToolError" : error.code,
    sentenceOf(error.message, maxMemoryMb) ?? readable(error.message),
    mapped,
  );
}

/** Returns a sentence for a person instead of an engine's message; null if the message can stay. */
function sentenceOf(message: string, maxMemoryMb: number): string | null {
  if (outOfMemory.has(message)) return `It ran out of memory; max_memory_mb is ${maxMemoryMb}.`;
  return message.trim() === "" ? "The program failed without saying why." : null;
}

/** What a TypeScript guest's engine throws without memory; the second if there is none left for an error object. */
const outOfMemory = new Set([
  "out of memory",
  "null (what the engine throws when there is no memory left for an error)",
]);
