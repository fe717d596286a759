import { plainMessage } from "../../base/plain-text.ts";
import type { TraceEntry } from "../../base/vocabulary/trace.ts";
import { command, type Command } from "./command.ts";

/** Traces that one message shows. */
const maxTracesShown = 20;
/** Traces of an agent that are looked through for one hook's. */
const maxTracesLookedAt = 1000;
/** Of one trace's message; a message box is no place for more. */
const maxTraceCharacters = 200;

/** What the lenses of an agent do. */
export const agentCommands = {
  "lares.agent.control": command("lares.agent.control", async ({ id, command }, { client }) =>
    client.services.agents.control(client.principal, id, command),
  ),
  "lares.agent.traces": command("lares.agent.traces", async ({ id, hook }, session) => {
    const limit = hook === undefined ? maxTracesShown : maxTracesLookedAt;
    const found = await session.client.services.traces.query({ agent: id, limit });
    const shown = found.filter((entry) => hook === undefined || entry.hook === hook);
    const message = tracesMessage(hook === undefined ? id : `${id}, ${hook}`, shown.slice(0, maxTracesShown));
    session.endpoint.notifyStandard("window/showMessage", { type: 3, message });
    return null;
  }),
} satisfies Record<string, Command>;

/** Newest first, a line each. */
function tracesMessage(whose: string, entries: readonly TraceEntry[]): string {
  const title = shownLine(whose);
  if (entries.length === 0) return `${title} has left no traces.`;
  return [`Traces of ${title}, newest first:`, ...entries.map(traceLine)].join("\n");
}

function traceLine({ timestamp, level, hook, message }: TraceEntry): string {
  return `${timestamp} ${level}${hook === undefined ? "" : ` ${shownLine(hook)}`}: ${shownLine(message)}`;
}

/** Bounded before it is looked at: a trace may be as long as a line may be. */
function shownLine(text: string): string {
  const short = text.length <= maxTraceCharacters ? text : `${text.slice(0, maxTraceCharacters)}…`;
  return plainMessage(short);
}
