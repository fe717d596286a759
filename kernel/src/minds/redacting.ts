import { isoTime } from "../base/clock.ts";
import { illegalTransition, invalidParams, notFound } from "../base/errors.ts";
import { endedStates, type Entry } from "../base/vocabulary/conversation.ts";
import type { RedactedConversation, RedactConversation } from "../base/vocabulary/conversation-requests.ts";
import type { ForgettingReport, Forgotten } from "../base/vocabulary/forgetting.ts";
import type { Removal } from "../conversations/redactions.ts";
import { isConversationId, sharedLogOf } from "../conversations/log-names.ts";
import { everyEntry } from "../conversations/whole-logs.ts";
import type { Minds } from "./minds.ts";
import {
  isRemovable,
  removalOfEntries,
  removalOfMemories,
  removalOfRetold,
  removalOfTexts,
  bothRemovals,
  copiedTexts,
  minRepeated,
} from "./redaction.ts";
import { readersOf, sharedOf } from "./shared-readers.ts";
import { textOf } from "../context/entry-text.ts";
import { derivedFrom } from "./derived.ts";
import { removalOfBlock } from "./redacted-block.ts";

/** Conversations that are read at a time. */
const pageSize = 500;
/** Derived texts that one answer lists. */
const maxListed = 100;
/** Characters of a derived text that the answer shows. */
const maxShown = 200;

/** What is removed from logs, as JSON: the next kernel removes it again, if this one dies. */
export interface LogRedaction {
  readonly agent: string;
  readonly logs: readonly string[];
  readonly text?: string;
  /** With their seqs in each log that has some of them. */
  readonly entries?: {
    readonly removed: readonly Entry[];
    readonly seen: Readonly<Record<string, readonly number[]>>;
  };
  /** The ids of memories with which a conversation may have begun. */
  readonly memories?: readonly string[];
  /** The texts of these, and the logs whose models were told them. */
  readonly retold?: { readonly texts: readonly string[]; readonly logs: readonly string[] };
  readonly block?: { readonly name: string; readonly said: readonly string[] };
}

/** Removes what a person names from a conversation and all that shares its entries, for good, and every copy elsewhere. */
export async function redactConversation(
  minds: Minds,
  { id, entry, text, preview = false, with_derived: withDerived = false }: RedactConversation,
): Promise<RedactedConversation> {
  if ((entry === undefined) === (text === undefined))
    throw invalidParams("Give either an entry or a text.", { path: "entry" });
  const { conversations } = minds;
  const { agent } = await conversations.get(id);
  const family = await conversations.redactions.family(id);
  for (const each of family) await checkIdle(minds, each);
  const target = text === undefined ? { entries: await entriesOf(minds, id, entry ?? "", family) } : { text };
  const { redactions } = conversations;
  const own = (await conversations.find(agent)) === null ? [] : [agent];
  const logsTold = async (of: LogRedaction): Promise<readonly string[]> => {
    const told = [...(await toldBy(minds, of, [...family, ...own])), ...(of.retold?.logs ?? [])];
    const logs = [...new Set([...family, ...own, ...told])];
    for (const each of logs.filter(isConversationId)) await checkIdle(minds, each);
    return logs;
  };
  const logs = await logsTold({ agent, logs: [], ...target });
  const named: LogRedaction = { agent, logs, ...target };
  const found = await redactions.found(logs, removalOf(named));
  const origins = text === undefined ? (named.entries?.removed ?? []) : found;
  const foundIds = new Set(found.map((each) => each.id));
  const derived = (await derivedFrom(conversations, logs, agent, origins)).filter(
    (each) => !foundIds.has(each.id),
  );
  // A cortex saves what it merges in the name of its agent.
  const remembered = (): Promise<Memories> => madeSince(minds, agent, [...family, agent], origins);
  const memories = await remembered();
  const whole = withDerived ? await withWhatIsDerived(minds, named, derived, memories) : named;
  // A bulletin, a block or a memory that goes too was told elsewhere.
  const redaction = whole === named ? named : { ...whole, logs: await logsTold(whole) };
  const having = redaction.logs.filter(isConversationId);
  const removal = removalOf(redaction);
  const inContexts = new Set<string>();
  for (const each of having) if (await redactions.holdsInContext(each, removal)) inContexts.add(each);
  const answer = (entries: readonly Entry[], left: readonly Entry[], mentioned: Memories) =>
    answerOf(entries, { all: having, inContexts }, left, mentioned);
  if (preview) {
    const all = whole === named ? found : await redactions.found(redaction.logs, removalOf(redaction));
    return { ...answer(all, derived, memories), removed: [], remains: [] };
  }
  const { result: replaced, report } = await forget(
    minds,
    redaction,
    {
      ...forgottenOf(redaction, having, agent),
      memories: (redaction.memories ?? []).map((each) => ({ agent, id: each })),
    },
    () => removeFrom(minds, redaction),
  );
  return {
    ...answer(replaced, withDerived ? [] : derived, await remembered()),
    removed: report.removed.map((each) => ({ ...each })),
    remains: report.remains.map((each) => ({ ...each })),
  };
}

/** Returns a redaction with what was derived from its text, and with copies of these memories where models were told them. */
async function withWhatIsDerived(
  minds: Minds,
  named: LogRedaction,
  derived: readonly Entry[],
  memories: Memories,
): Promise<LogRedaction> {
  const { redactions } = minds.conversations;
  const { agent, logs } = named;
  const removed = [...(named.entries?.removed ?? []), ...derived];
  const ids = memories.map(({ id }) => id);
  // They were made in the first ones.
  const told = new Set(logs);
  if (ids.length > 0)
    for (const each of [agent, ...(await redactions.conversationsOf([agent]))])
      if (!told.has(each) && (await redactions.holds(each, removalOfMemories(ids)))) told.add(each);
  const texts = memories.flatMap(({ text }) => (text.length >= minRepeated ? [text] : []));
  return {
    ...named,
    ...(derived.length === 0 ? {} : { entries: { removed, seen: await redactions.seqsIn(logs, removed) } }),
    ...(ids.length === 0 ? {} : { memories: ids, retold: { texts, logs: [...told] } }),
  };
}

/**
 * Returns the logs of shared memories that have a text from a conversation, and those of all conversations that may have
 * read it there, or in a block or the bulletin of their mind.
 */
async function toldBy(
  minds: Minds,
  told: LogRedaction,
  family: readonly string[],
): Promise<readonly string[]> {
  const { conversations } = minds;
  const { redactions } = conversations;
  const { agent } = told;
  const removal = removalOf(told);
  const found = new Set<string>();
  const isInOwn = await hasAny(conversations, agent, removal);
  for (const each of await redactions.conversationsOf([agent]))
    if (isInOwn || (await redactions.holdsInContext(each, removal))) found.add(each);
  for (const namespace of await sharedOf(minds, agent)) {
    const log = sharedLogOf(namespace);
    if (!(await hasAny(conversations, log, removal))) continue;
    found.add(log);
    const readers = await readersOf(minds, namespace);
    for (const reader of readers)
      if (reader !== agent && (await conversations.find(reader)) !== null) found.add(reader);
    for (const each of await redactions.conversationsOf(readers)) found.add(each);
  }
  return [...found].filter((each) => !family.includes(each));
}

async function hasAny(
  conversations: Minds["conversations"],
  log: string,
  removal: Removal,
): Promise<boolean> {
  for await (const edit of everyEntry(conversations, log, { kinds: ["block"] }))
    if (removal.entry(edit, log) !== null) return true;
  return false;
}

type Memories = Awaited<ReturnType<Minds["ports"]["memory"]["madeFrom"]>>;

/** Returns what was remembered since the first of the entries. */
async function madeSince(
  { ports }: Minds,
  agent: string,
  conversations: readonly string[],
  origins: readonly Entry[],
): Promise<Memories> {
  const [since] = origins.map(({ created }) => created).toSorted();
  return since === undefined ? [] : await ports.memory.madeFrom(agent, conversations, since);
}

function answerOf(
  having: readonly Entry[],
  conversations: { readonly all: readonly string[]; readonly inContexts: ReadonlySet<string> },
  derived: readonly Entry[],
  memories: Memories,
): Omit<RedactedConversation, "removed" | "remains"> {
  return {
    entries: [...new Set(having.map((each) => each.id))],
    conversations: conversations.all.filter(
      (each) =>
        conversations.inContexts.has(each) || having.some(({ conversation }) => conversation === each),
    ),
    memories: memories.map((memory) => ({ ...memory })),
    derived: derived.slice(0, maxListed).map((each) => ({
      conversation: each.conversation,
      entry: each.id,
      kind: each.kind,
      text: textOf(each).slice(0, maxShown),
    })),
    derived_total: derived.length,
  };
}

/**
 * Removes texts from logs that nothing works with, and from everywhere else. The next kernel completes it. `removeLogs` is
 * called first, and has to remove the texts from the logs.
 */
export async function forget<Result>(
  minds: Minds,
  redaction: LogRedaction,
  forgotten: Forgotten,
  removeLogs: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly report: ForgettingReport }> {
  const begun = isoTime(minds.ports.clock.now());
  const done = await minds.ports.forgetting.run({ forgotten, logs: redaction }, removeLogs);
  await removeFromLater(minds, redaction, begun);
  return done;
}

/** Removes the texts from conversations that began or continued during the removal, and may have read what was not clean yet. */
async function removeFromLater(minds: Minds, redaction: LogRedaction, since: string): Promise<void> {
  const { conversations } = minds;
  const removal = removalOf(redaction);
  const later: string[] = [];
  for (let before: { readonly updated: string; readonly id: string } | undefined; ;) {
    const rows = await conversations.list({
      agent: redaction.agent,
      limit: pageSize,
      ...(before === undefined ? {} : { before }),
    });
    const changed = rows.filter(({ state }) => state.updated >= since);
    for (const { id } of changed) if (await conversations.redactions.holds(id, removal)) later.push(id);
    const last = changed.at(-1);
    if (last === undefined || changed.length < rows.length) break;
    before = { updated: last.state.updated, id: last.id };
  }
  if (later.length > 0) await removeFrom(minds, { ...redaction, logs: later });
}

/** Removes texts from logs and their forks. Resolves with the replaced entries when no file has the texts any more. */
export async function removeFrom(minds: Minds, redaction: LogRedaction): Promise<readonly Entry[]> {
  const { agent } = redaction;
  const { redactions } = minds.conversations;
  // Other removals may have come first, and a person may have forked a conversation since it was searched.
  const logs = new Set(redaction.logs);
  for (const each of redaction.logs)
    if (isConversationId(each)) for (const one of await redactions.family(each)) logs.add(one);
  // The mind's own log may begin meanwhile with what it has read.
  return await minds.removingFrom(
    [...new Set([...logs, agent])],
    async () => await redactions.redact([...logs], removalOf(redaction)),
  );
}

function removalOf({ agent, text, entries, memories, retold, block }: LogRedaction): Removal {
  const removals = [
    ...(memories === undefined ? [] : [removalOfMemories(memories)]),
    ...(entries === undefined ? [] : [removalOfEntries(entries.removed, entries.seen, agent)]),
    ...(text === undefined ? [] : [removalOfTexts([text])]),
    ...(retold === undefined ? [] : [removalOfRetold(retold.texts, retold.logs)]),
    ...(block === undefined ? [] : [removalOfBlock(block.name, block.said)]),
  ];
  return removals.reduce(bothRemovals);
}

/** Returns what is removed outside of the logs. */
function forgottenOf(
  { text, entries }: LogRedaction,
  family: readonly string[],
  agent: string,
): Omit<Forgotten, "memories"> {
  const removed = entries?.removed ?? [];
  return {
    texts: [...new Set([...(text === undefined ? [] : [text]), ...copiedTexts(removed)])],
    calls: removed.flatMap((each) =>
      each.kind === "tool_call" || each.kind === "tool_result"
        ? family.map((conversation) => ({ agent, conversation, call: each.call }))
        : [],
    ),
    agent,
    // A cortex saves what it merges in the name of its agent.
    conversations: [...family, agent],
  };
}

async function entriesOf(
  { conversations }: Minds,
  id: string,
  entry: string,
  family: readonly string[],
): Promise<NonNullable<LogRedaction["entries"]>> {
  const found = await conversations.entry(id, entry);
  if (found === null) throw notFound("entry", entry);
  if (!isRemovable(found))
    throw invalidParams(
      `The entry is of the kind "${found.kind}", which has no text of its own. Name a message, a call, a result, a conclusion, a summary, a notice or a block.`,
      { path: "entry" },
    );
  // Pieces of an answer have one id.
  const all: Entry[] = [];
  for await (const each of everyEntry(conversations, id, { kinds: [found.kind] }))
    if (each.id === entry) all.push(each);
  const removed = all.length === 0 ? [found] : all;
  return { removed, seen: await conversations.redactions.seqsIn(family, removed) };
}

/** Throws IllegalTransition while something runs in a conversation: it may have read the text, and would write it again. */
export async function checkIdle({ conversations }: Minds, id: string): Promise<void> {
  // A deleted conversation is idle.
  const row = await conversations.find(id);
  const busy = row?.state.processes.filter(
    ({ state }) => !endedStates.has(state) && state !== "WaitingForInput",
  );
  if (busy === undefined || busy.length === 0) return;
  const state = busy.some((process) => process.state !== "WaitingForApproval")
    ? "Running"
    : "WaitingForApproval";
  throw illegalTransition(
    state,
    state === "Running"
      ? `Something runs in the conversation ${id}, which may have the text. Stop it first.`
      : `Something waits for your answer in the conversation ${id}, and may have the text. Answer it, or stop it, first.`,
  );
}
