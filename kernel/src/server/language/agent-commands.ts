import { plainMessage } from "../../base/plain-text.ts";
import type { TraceEntry } from "../../base/vocabulary/trace.ts";
import { command, type Command } from "./command.ts";

/** Maximum number of traces in a message. */
const maxTracesShown = 20;
/** Maximum number of an agent's traces that are searched for those of one hook. */
const maxTracesSearched = 1000;
/** Maximum length of a trace's text in a message. */
const maxTraceCharacters = 200;

/** The commands of the lenses of an agent. */
export const agentCommands = {
  "lares.agent.control": command("lares.agent.control", async ({ id, command, hook }, { client }) =>
    client.services.agents.control(client.principal, id, command, hook),
  ),
  "lares.agent.traces": command("lares.agent.traces", async ({ id, hook }, session) => {
    const limit = hook === undefined ? maxTracesShown : maxTracesSearched;
    const found = await session.client.services.traces.query({ agent: id, limit });
    const shown = found.filter((entry) => hook === undefined || entry.hook === hook);
    const message = tracesMessage(hook === undefined ? id : `${id}, ${hook}`, shown.slice(0, maxTracesShown));
    session.endpoint.notifyStandard("window/showMessage", { type: 3, message });
    return null;
  }),
} satisfies Record<string, Command>;

/** Returns one line per trace, newest first. */
function tracesMessage(whose: string, entries: readonly TraceEntry[]): string {
  const title = shownLine(whose);
  if (entries.length === 0) return `${title} has left no traces.`;
  return [`Traces of ${title}, newest first:`, ...entries.map(traceLine)].join("\n");
}

function traceLine({ timestamp, level, hook, message }: TraceEntry): string {
  return `${timestamp} ${level}${hook === undefined ? "" : ` ${shownLine(hook)}`}: ${shownLine(message)}`;
}

/** Shortened before it is processed, because a trace may be very long. */
function shownLine(text: string): string {
  const short = text.length <= maxTraceCharacters ? text : `${text.slice(0, maxTraceCharacters)}…`;
  return plainMessage(short);
}
