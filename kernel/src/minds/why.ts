import { invalidParams, notFound } from "../base/errors.ts";
import type { SeenMemory, Why } from "../base/vocabulary/answer-reasons.ts";
import type { Entry, EntryOf, Process } from "../base/vocabulary/conversation.ts";
import { bulletinBlock } from "../base/vocabulary/mind.ts";
import { type ContextPrefix, prefixOf } from "../context/prefix.ts";
import type { ConversationRow } from "../conversations/indexed.ts";
import { newestBlocks } from "../conversations/whole-logs.ts";
import { textOfBlock } from "./blocks.ts";
import { decodePrefix } from "./context-tail.ts";
import type { Minds } from "./minds.ts";
import { redactedMark } from "../base/without-texts.ts";
import { recalledBy, type RecalledHere } from "./recalled-memories.ts";

/** The last entries that are looked through for an answer, and for what began its turn. */
const maxLooked = 1_000;
const maxMemories = 200;
/** Conclusions that a process has read, the last ones. */
const maxConclusions = 200;
/** Branches start workers, and workers start nothing. */
const maxDepth = 3;

type Read = SeenMemory["read"];
type Found = RecalledHere & { readonly read: Read };

/** By how they came into the context. */
const order: readonly Read[] = ["now", "before", "summarised", "bulletin"];

/**
 * Returns what a model had before it when it wrote an answer, beside the conversation itself. A request's entry says which
 * entries it had: those before it, behind the beginning that was stored last.
 */
export async function whyOf(minds: Minds, row: ConversationRow, entry: string | undefined): Promise<Why> {
  const { conversations, ports } = minds;
  const { id, agent } = row;
  const answer = await answerIn(minds, row, entry);
  const request = await requestOf(minds, id, answer);
  const process = row.state.processes.find((each) => each.id === answer.process);
  const { prefix, told } = await contextAt(minds, id, answer.process, request.seq);
  const then = { prefix, entries: told };
  const now = await ports.blocks.ofMind(agent);
  const textNow = async (name: string): Promise<string> => {
    const scope = ports.mindOf(agent)?.definition.blocks.find((block) => block.name === name)?.scope;
    if (scope !== "conversation") return now.get(name) ?? "";
    const edits = await newestBlocks(conversations, id);
    return edits.find((edit) => edit.name === name)?.text ?? "";
  };
  const blocks: Why["blocks"] = [];
  for (const { name } of prefix.blocks) {
    const text = textOfBlock(then, name);
    if (isSaid(text)) blocks.push({ name, text, present: (await textNow(name)) === text });
  }
  const bulletin = textOfBlock(then, bulletinBlock);
  const found: Found[] = [
    ...(await recalledFor(minds, row, process, answer.process, request, prefix.after)),
    ...(isSaid(bulletin) ? await behindBulletin(minds, agent, bulletin, request.created) : []),
    ...prefix.remembered.map((memory): Found => ({ ...memory, seq: 0, read: "bulletin" })),
  ];
  return {
    entry: answer.id,
    model: request.model,
    asked: request.created,
    blocks,
    ...(isSaid(bulletin)
      ? { bulletin: { text: bulletin, present: now.get(bulletinBlock) === bulletin } }
      : {}),
    memories: await withPresent(minds, agent, onceEach(found)),
    summaries: prefix.summaries.length,
  };
}

async function answerIn(
  { conversations }: Minds,
  { id, state }: ConversationRow,
  entry: string | undefined,
): Promise<EntryOf<"message">> {
  if (entry !== undefined) {
    const named = await conversations.entry(id, entry);
    if (named === null) throw notFound("entry", entry);
    if (named.kind === "message" && named.role === "assistant") return named;
    throw invalidParams("Only an answer of a model has reasons. Name the entry of one.", { path: "entry" });
  }
  const channel = state.processes.find(({ kind }) => kind === "channel");
  const said = await conversations.entries(id, {
    ...(channel === undefined ? {} : { process: channel.id }),
    kinds: ["message"],
    limit: maxLooked,
    newest: true,
  });
  const last = said.findLast(
    (each): each is EntryOf<"message"> =>
      each.kind === "message" && each.role === "assistant" && each.partial !== true,
  );
  if (last === undefined) throw notFound("answer in the conversation", id);
  return last;
}

async function requestOf(
  { conversations }: Minds,
  id: string,
  { id: message, process, seq }: EntryOf<"message">,
): Promise<EntryOf<"request">> {
  const asked = await conversations.entries(id, {
    process,
    kinds: ["request"],
    through: seq,
    limit: maxLooked,
    newest: true,
  });
  const request = asked.findLast(
    (each): each is EntryOf<"request"> => each.kind === "request" && each.message === message,
  );
  if (request === undefined) throw invalidParams("No model was asked for this message.", { path: "entry" });
  return request;
}

/** Returns the beginning of a process's context, and the changes of blocks that it was told, as of a request. */
async function contextAt(
  { conversations }: Minds,
  id: string,
  process: string,
  request: number,
): Promise<{ readonly prefix: ContextPrefix; readonly told: readonly Entry[] }> {
  const stored = decodePrefix(await conversations.prefix(id, process, request));
  // A redaction removes the ones from before, and stores the last one again.
  const renewed = stored ?? decodePrefix(await conversations.prefix(id, process));
  if (renewed === null || renewed.context.after > request) return { prefix: prefixOf({}), told: [] };
  const { context, channel } = renewed;
  const edits = async (audience: string, through: number): Promise<readonly Entry[]> =>
    await conversations.entries(id, {
      audience,
      kinds: ["block"],
      after: context.after,
      through,
      limit: maxLooked,
      newest: true,
    });
  return {
    prefix: context,
    told: [
      ...(channel === undefined ? [] : await edits(channel.process, Math.min(channel.through, request))),
      ...(await edits(process, request)),
    ],
  };
}

/** Returns the memories that a process, and those whose conclusions it had read, recalled before a request. */
async function recalledFor(
  minds: Minds,
  { id, state }: ConversationRow,
  process: Process | undefined,
  audience: string,
  request: Entry,
  after: number,
): Promise<Found[]> {
  const { conversations } = minds;
  const parent = state.processes.find((each) => each.id === process?.parent);
  const began =
    process?.kind === "branch" && parent !== undefined ? await beginningOf(minds, id, audience) : 0;
  const spoken = await conversations.entries(id, {
    process: parent === undefined ? audience : parent.id,
    kinds: ["message"],
    through: request.seq,
    limit: maxLooked,
    newest: true,
  });
  const asked = spoken.findLast((each) => each.kind === "message" && each.role === "user")?.seq ?? 0;
  const readAt = (seq: number): Read => (seq > asked ? "now" : seq > after ? "before" : "summarised");
  const found: Found[] = (await recalledBy(conversations, id, audience, request.seq)).map((each) => ({
    ...each,
    read: parent === undefined ? readAt(each.seq) : "now",
  }));
  const read = async (reader: string, through: number, depth: number, as?: Read): Promise<void> => {
    if (depth > maxDepth) return;
    const conclusions = await conversations.entries(id, {
      audience: reader,
      kinds: ["conclusion"],
      through,
      limit: maxConclusions,
      newest: true,
    });
    for (const conclusion of conclusions) {
      if (conclusion.process === reader) continue;
      const how = as ?? readAt(conclusion.seq);
      for (const each of await recalledBy(conversations, id, conclusion.process, conclusion.seq))
        found.push({ ...each, read: how });
      await read(conclusion.process, conclusion.seq, depth + 1, how);
    }
  };
  await read(audience, request.seq, 1, parent === undefined ? undefined : "now");
  // A branch has read what the channel had read when it began.
  if (began > 0 && parent !== undefined) await read(parent.id, began, 1);
  return found;
}

async function beginningOf({ conversations }: Minds, id: string, process: string): Promise<number> {
  const [first] = await conversations.entries(id, { process, limit: 1 });
  return first?.seq ?? 0;
}

/** Returns what the process had recalled or saved that wrote a bulletin, as of a time. */
async function behindBulletin(
  { conversations }: Minds,
  agent: string,
  text: string,
  asOf: string,
): Promise<Found[]> {
  const edits = await conversations.entries(agent, { kinds: ["block"], limit: maxLooked, newest: true });
  const written = edits.findLast(
    (edit) => isEditOf(edit, bulletinBlock) && edit.text === text && edit.created <= asOf,
  );
  if (written === undefined) return [];
  const found = await recalledBy(conversations, agent, written.process, written.seq);
  return found.map((each) => ({ ...each, read: "bulletin" }));
}

/** Returns each memory once, as it was read last, those for the answer first. */
function onceEach(found: readonly Found[]): readonly Found[] {
  const sorted = found.toSorted(
    (one, other) => order.indexOf(one.read) - order.indexOf(other.read) || other.seq - one.seq,
  );
  const seen = new Set<string>();
  return sorted.filter(({ id }) => !seen.has(id) && seen.add(id)).slice(0, maxMemories);
}

async function withPresent(minds: Minds, agent: string, found: readonly Found[]): Promise<SeenMemory[]> {
  const present =
    found.length === 0
      ? new Map<string, never>()
      : await minds.ports.memory.present(
          agent,
          found.map(({ id }) => id),
        );
  return found.flatMap(({ seq: _seq, ...memory }): SeenMemory[] => {
    const now = present.get(memory.id);
    if (now === undefined) return memory.text === redactedMark ? [] : [{ ...memory, state: "gone" }];
    return [{ ...memory, state: now.id === memory.id ? "remembered" : "corrected", present: { ...now } }];
  });
}

const isSaid = (text: string): boolean => text !== "" && text !== redactedMark;

function isEditOf(entry: Entry, name: string): entry is EntryOf<"block"> {
  return entry.kind === "block" && entry.name === name;
}
