import { leftOutWords, shownArguments, startOf } from "../../../kernel/src/base/vocabulary/ask-arguments.ts";
import { requestedBySentence } from "../../../kernel/src/base/vocabulary/principal.ts";
import { visibleText } from "../../../kernel/src/base/visible-text.ts";
import type { Action, Ask, Conversation } from "../protocol.ts";
import { maxProcesses } from "../webviews/conversations/entries.ts";
import type { Activity, Head, Question, Row } from "../webviews/conversations/messages.ts";
import { shownProcess } from "./shown-entries.ts";

/** Characters of a call's arguments that a question shows. */
const maxArguments = 8_000;
/** More than the characters of the sentence that says how much is left out. */
const maxLeftOutWords = 100;

/** Decisions that wait for the person, as the client knows them. */
interface Waiting {
  readonly actions: readonly Action[];
  readonly asks: readonly Ask[];
}

/** Returns the conversation whose process led to an action or a question; undefined for an agent's own. */
export function conversationOf({
  on_behalf_of: who,
}: Pick<Action | Ask, "on_behalf_of">): string | undefined {
  const process = who?.find((actor) => actor.kind === "process");
  return process?.kind === "process" ? process.conversation : undefined;
}

/** True if the question holds up this conversation: it is its own, or that of an agent whose tool it called. */
export function isAskedIn(ask: Ask, id: string): boolean {
  return ask.conversation === id || conversationOf(ask) === id;
}

export function rowOf(conversation: Conversation, waiting: Waiting): Row {
  const { id, agent, title, state, updated, unread } = conversation;
  const waits =
    waiting.actions.filter((action) => conversationOf(action) === id).length +
    waiting.asks.filter((ask) => isAskedIn(ask, id)).length;
  return {
    id,
    agent: agent.slice(0, 256),
    title: title.slice(0, 256),
    isArchived: state === "archived",
    updated: updated.slice(0, 40),
    unread,
    activity: activityOf(conversation, waits),
    waiting: waits,
  };
}

/** Decisions that wait for the person come first, because nobody else can make them. */
function activityOf({ processes }: Conversation, waits: number): Activity {
  if (waits > 0 || processes.some(({ state }) => state === "WaitingForApproval")) return "waiting";
  if (processes.some(({ state }) => state === "Running" || state === "Waiting")) return "working";
  return processes.some(({ kind, state }) => kind === "channel" && state === "Failed") ? "failed" : "idle";
}

export function headOf(conversation: Conversation, waiting: Waiting): Head {
  const { seq, model, tainted, processes, context, usage, forked_from: origin } = conversation;
  const [first, ...others] = processes;
  // The channel is the first one, and stays among those that are shown.
  const shown = first === undefined ? [] : [first, ...others.slice(1 - maxProcesses)];
  return {
    ...rowOf(conversation, waiting),
    seq,
    model: model.slice(0, 322),
    tainted: tainted.slice(0, 64).map((source) => source.slice(0, 512)),
    processes: shown.map(shownProcess),
    context,
    usage: {
      inputTokens: usage.input_tokens,
      outputTokens: usage.output_tokens,
      ...(usage.usd === undefined ? {} : { usd: usage.usd }),
    },
    ...(origin === undefined ? {} : { forkedFrom: origin.conversation }),
  };
}

/** Says how much it leaves out: the person decides by what they read. */
function bounded(text: string, most: number): string {
  if (text.length <= most) return text;
  const start = startOf(text, most - maxLeftOutWords);
  return `${start}… ${leftOutWords(text.length - start.length)}`;
}

export function questionOf(ask: Ask): Question {
  const { id, digest, title, reason, sources, scopes, on_behalf_of: who } = ask;
  const shown = shownArguments(ask, maxArguments);
  return {
    id,
    digest,
    title: bounded(title, 4_000),
    reason: bounded(reason, 8_000),
    ...(who === undefined ? {} : { requestedBy: bounded(visibleText(requestedBySentence(who)), 4_000) }),
    ...(shown === null ? {} : { arguments: { text: visibleText(shown.text), left: shown.left } }),
    sources: sources.slice(0, 64).map((source) => source.slice(0, 512)),
    scopes: scopes.slice(0, 3),
  };
}
