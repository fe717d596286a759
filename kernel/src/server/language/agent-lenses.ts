import type { CodeLens, Command } from "vscode-languageserver";
import { plainMessage, withoutIcons } from "../../base/plain-text.ts";
import type { Agent, AgentCommand, AgentHook } from "../../base/vocabulary/agent.ts";
import { agentStateWords, agentWord, eventsToday } from "../../base/vocabulary/agent-words.ts";
import type { AgentService } from "../../services/ports.ts";
import type { Session } from "../session/session.ts";
import { editedDocument } from "./edited-document.ts";
import { documentUriOf } from "../session/params.ts";
import type { AgentPlace } from "../../base/vocabulary/editing.ts";
import type { NavigationService } from "../../services/editing.ts";

/** Maximum number of places with lenses in one document; further ones have none. */
export const maxPlaces = 500;

/** `textDocument/codeLens`: above each extension and hook, the state of its agent and its commands. */
export async function agentLenses(
  navigation: NavigationService,
  agents: AgentService,
  params: unknown,
  session: Session,
): Promise<CodeLens[]> {
  const document = editedDocument(navigation, session, documentUriOf(params));
  if (document === null) return [];
  const places = await navigation.agentPlaces(document, maxPlaces);
  if (!session.trusted) return places.filter(isExtension).map(({ range }) => lens(range, untrusted));
  const known = new Map(agents.list().map((agent) => [agent.id, agent]));
  return places.flatMap((place) => {
    const agent = known.get(place.agent);
    return agent === undefined ? [] : lensesOf(place, agent, agents);
  });
}

/** A lens without a command. */
const untrusted: Command = { title: "Lares: no agent runs before you allow this workspace", command: "" };

function isExtension({ hook }: AgentPlace): boolean {
  return hook === undefined;
}

function lensesOf({ range, hook }: AgentPlace, agent: Agent, agents: AgentService): CodeLens[] {
  const { id, state, error } = agent;
  const own =
    hook && agent.hooks.find((each) => each.handler === hook.handler && eventOf(each) === hook.event);
  if (hook !== undefined && own === undefined) return [];
  const count =
    own === undefined ? agent.metrics.events_today : agents.eventsToday(id, own.handler, eventOf(own));
  const traces: Command = {
    title: "Show traces",
    command: "lares.agent.traces",
    arguments: [{ id, ...(hook === undefined ? {} : { hook: hook.handler }) }],
  };
  const control = (title: string, command: AgentCommand, of?: number): Command => ({
    title,
    command: "lares.agent.control",
    arguments: [{ id, command, ...(of === undefined ? {} : { hook: of }) }],
  });
  const word = agentWord(agent);
  const isInError = word === agentStateWords.Error;
  const reason = isInError && error !== undefined ? `: ${shortened(plainMessage(error))}` : "";
  const facts = [
    `${word}${reason}`,
    eventsToday(count),
    ...(own?.nextRun === undefined ? [] : [`next run ${minuteOf(own.nextRun)}`]),
    ...(own?.suspended === undefined
      ? []
      : [`schedule suspended: ${shortened(plainMessage(own.suspended.error))}`]),
  ];
  const standing =
    state === "Suspended"
      ? control("Resume", "resume")
      : own?.suspended !== undefined
        ? control("Resume Schedule", "resume", agent.hooks.indexOf(own))
        : control("Suspend", "suspend");
  return [{ ...traces, title: facts.join(" · ") }, control("Reload", "reload"), standing, traces].map(
    (command) => lens(range, command),
  );
}

function eventOf({ on }: AgentHook): string {
  return on ?? "ScheduleFired";
}

/** Returns `2026-11-21 03:00 UTC`. */
function minuteOf(timestamp: string): string {
  return `${timestamp.slice(0, 16).replace("T", " ")} UTC`;
}

const maxReasonCharacters = 80;

function shortened(text: string): string {
  const cut = text.length > maxReasonCharacters ? `${text.slice(0, maxReasonCharacters - 1)}…` : text;
  return withoutIcons(cut);
}

function lens(range: CodeLens["range"], command: Command): CodeLens {
  return { range: { start: range.start, end: range.start }, command };
}
