import { maxPins } from "../base/vocabulary/bounds.ts";
import { isoTime } from "../base/clock.ts";
import { Emitter } from "../base/emitter.ts";
import {
  illegalTransition,
  invalidParams,
  LaresError,
  limitExceeded,
  messageOf,
  notFound,
} from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import { OneAtATime } from "../base/one-at-a-time.ts";
import { endedStates, type Conversation, type Entry } from "../base/vocabulary/conversation.ts";
import { plainLine } from "../base/plain-text.ts";
import { quotedText } from "../base/visible-text.ts";
import { checkPerson } from "../base/vocabulary/principal.ts";
import { isConversationId } from "../conversations/log-names.ts";
import type { ConversationRow } from "../conversations/indexed.ts";
import type { ConversationState } from "../conversations/fold.ts";
import { allOf } from "../conversations/search-words.ts";
import { modelError } from "../models/failure-error.ts";
import { sha256 } from "../platform/files/hash.ts";
import type { ConversationService } from "../services/conversations.ts";
import { beginConversation } from "./beginning.ts";
import { ContextTail } from "./context-tail.ts";
import type { MindConversation } from "./conversation.ts";
import { entryOf, type EntryMaker } from "./entries.ts";
import { commandOrigin } from "./origins.ts";
import type { Minds } from "./minds.ts";
import { editBlock, listBlocks } from "./persons-blocks.ts";
import { MindProcess } from "./process.ts";
import { redactConversation } from "./redacting.ts";
import { maxSearched, searchMind } from "./search-mind.ts";
import { sentParts } from "./sent-parts.ts";
import { whyOf } from "./why.ts";

const change = "change conversations";

/** A title is shown in lists, where these characters would be symbols or change what stands beside it. */
function checkTitle(title: string | undefined): void {
  if (title === undefined || plainLine(title) === title) return;
  throw invalidParams(
    `The title ${quotedText(title)} has line breaks, or characters that are invisible or reorder text. Write it on one line, without them.`,
    { path: "title" },
  );
}

const defaultLimit = 100;

/** Messages to one conversation, and edits of one mind, that wait for their turn. */
const maxWaitingEdits = 256;

/** The operations on conversations that clients may request. */
export function createConversationService(minds: Minds): ConversationService {
  const { conversations, ports } = minds;
  const sends = new OneAtATime({ limit: "waitingMessages", most: maxWaitingEdits });
  /** By agent: edits of logs that are at rest. */
  const edits = new OneAtATime({ limit: "waitingEdits", most: maxWaitingEdits });
  const changed = new Emitter<Conversation>();
  const deleted = new Emitter<string>();

  const checkMind = (agent: string): void => {
    if (ports.mindOf(agent) === null) throw notFound("mind of the agent", agent);
  };
  const checkModel = async (agent: string, model: string | undefined): Promise<void> => {
    if (model === undefined || model === "") return;
    const choice = await ports.models.choose(agent, { kind: "talk", process: "channel", chosen: model });
    if ("failure" in choice) throw modelError(choice.failure, model);
  };
  const describe = async (
    { id, agent, forkedFrom, state }: ConversationRow,
    windows = new Map<string, Promise<{ model: string; limit: number }>>(),
  ): Promise<Conversation> => {
    const key = `${agent} ${state.model}`;
    const known = windows.get(key) ?? windowOf(agent, state.model);
    windows.set(key, known);
    const { model, limit } = await known;
    const { usage, title, created, updated, seq, tainted, unreadAt, processes } = state;
    return {
      id,
      agent,
      title,
      state: state.state,
      created,
      updated,
      seq,
      model,
      tainted,
      unread: unreadAt.length,
      processes,
      context: { tokens: state.contextTokens, limit },
      usage: {
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        ...(usage.usd === null ? {} : { usd: usage.usd }),
      },
      ...(forkedFrom === null ? {} : { forked_from: forkedFrom }),
    };
  };
  const windowOf = async (agent: string, chosen: string): Promise<{ model: string; limit: number }> => {
    const choice = await ports.models.choose(agent, {
      kind: "talk",
      process: "channel",
      ...(chosen === "" ? {} : { chosen }),
    });
    return "failure" in choice
      ? { model: chosen, limit: 0 }
      : { model: choice.model, limit: choice.contextTokens };
  };
  /** The log of a mind itself is none that a client names. */
  const known = async (id: string): Promise<ConversationRow> => {
    if (!isConversationId(id)) throw notFound("conversation", id);
    return await conversations.get(id);
  };
  /** Returns the name of a conversation's log, or of a mind's own one; null if the mind has not written anything yet. */
  const logOf = async ({
    id,
    agent,
  }: {
    readonly id?: string | undefined;
    readonly agent?: string | undefined;
  }): Promise<string | null> => {
    if ((id === undefined) === (agent === undefined))
      throw invalidParams("Give either the id of a conversation or an agent.", { path: "id" });
    if (id !== undefined) return (await known(id)).id;
    if (agent === undefined || (await conversations.find(agent)) !== null) return agent ?? null;
    checkMind(agent);
    return null;
  };
  const get = async (id: string): Promise<Conversation> => describe(await known(id));
  /** Writes an entry about the conversation as a whole. */
  const note = (
    { log, channel }: MindConversation,
    fields: Parameters<typeof entryOf>[1],
  ): Promise<readonly Entry[]> => {
    const maker: EntryMaker = { process: channel.id, turn: "", clock: ports.clock };
    return log.append([entryOf(maker, fields, { origin: "person" })]);
  };

  minds.changed.on((id) => {
    get(id).then(
      (conversation) => changed.emit(conversation),
      // It was deleted meanwhile.
      () => undefined,
    );
  });

  return {
    changed,
    deleted,
    open: async (by, { agent, title, model }) => {
      checkPerson(by, change);
      checkTitle(title);
      checkMind(agent);
      await checkModel(agent, model);
      using opened = await conversations.create(agent);
      await beginConversation(opened.log, ports.clock, {
        ...(title === undefined ? {} : { title }),
        ...(model === undefined ? {} : { model }),
      });
      await opened.log.sync();
      return await get(opened.log.id);
    },
    list: async ({ agent, state, text, limit = defaultLimit, cursor }) => {
      const windows = new Map<string, Promise<{ model: string; limit: number }>>();
      const named = {
        ...(agent === undefined ? {} : { agent }),
        ...(state === undefined ? {} : { state }),
      };
      const before = cursor === undefined ? undefined : decodeCursor(cursor);
      const wanted = (text ?? "").trim().toLowerCase();
      const rows = await conversations.list({
        ...named,
        ...(before === undefined ? {} : { before }),
        limit: wanted === "" ? limit + 1 : maxSearched,
      });
      const found =
        wanted === ""
          ? rows
          : await (async () => {
              const entries = await conversations.search(
                rows.map(({ id }) => id),
                allOf(wanted),
                maxSearched,
              );
              const ids = new Set(entries.map(({ entry }) => entry.conversation));
              return rows.filter((row) => ids.has(row.id) || row.state.title.toLowerCase().includes(wanted));
            })();
      const page = found.slice(0, limit);
      const last = page.at(-1);
      return {
        items: await Promise.all(page.map((row) => describe(row, windows))),
        ...(found.length > limit && last !== undefined
          ? { cursor: encodeCursor(last.state.updated, last.id) }
          : {}),
      };
    },
    get,
    send: async (by, { id, text, parts, key }) => {
      checkPerson(by, change);
      const sent = sentParts(text, parts);
      return await sends.run(id, async () => {
        const { state } = await known(id);
        if (state.state === "archived")
          throw illegalTransition("archived", "The conversation is archived. Open it again first.");
        const entry = key === undefined ? newId() : `keyed-${sha256(key).slice(-32)}`;
        // The log is open, so that an entry is found that an earlier kernel has not acknowledged.
        await minds.use(id, async (conversation) => {
          if (key === undefined || (await conversations.entry(id, entry)) === null)
            return await conversation.send(sent, entry);
          await conversation.log.sync();
          await conversation.resume();
        });
        return entry;
      });
    },
    runPrompt: async (by, { id, prompt, said }) => {
      checkPerson(by, change);
      const alone = sentParts(prompt, undefined);
      await sends.run(id, async () => {
        const { agent } = await known(id);
        await minds.use(id, (conversation) =>
          said === undefined
            ? conversation.send(alone, newId(), { origin: commandOrigin(agent) })
            : conversation.send(sentParts(said, undefined), newId(), { origin: "person", prompt }),
        );
      });
    },
    follow: async (id, from, sink) => {
      await known(id);
      return await minds.follow(id, from, sink);
    },
    entries: async ({ id, agent, before, after, process, kinds, limit = defaultLimit }) => {
      const of = await logOf({ id, agent });
      if (of === null) return { items: [], total: 0 };
      const query = {
        ...(after === undefined ? {} : { after }),
        ...(before === undefined ? {} : { through: before - 1 }),
        ...(process === undefined ? {} : { process }),
        ...(kinds === undefined ? {} : { kinds }),
      };
      const [items, total] = await Promise.all([
        conversations.entries(of, { ...query, limit, newest: after === undefined }),
        conversations.count(of, query),
      ]);
      return { items, total };
    },
    verify: async (whose, signal) => {
      const of = await logOf(whose);
      if (of === null) return { ok: true, records: 0, head: null };
      return await conversations.verify(of, signal);
    },
    search: async (search) => {
      checkMind(search.agent);
      return { items: await searchMind(minds, search) };
    },
    cancel: async (by, id, process) => {
      checkPerson(by, change);
      const stop = async (): Promise<void> => {
        await known(id);
        await minds.use(id, (conversation) => conversation.cancel(by, process));
      };
      // A message that was sent before, and is still being written, would begin a turn after the stop. One that is sent from now
      // on comes behind it.
      const again = process === undefined && sends.has(id) ? sends.run(id, stop, () => false) : null;
      await Promise.all([stop(), again]);
      return await get(id);
    },
    fork: async (by, id, at) => {
      checkPerson(by, change);
      const { agent } = await known(id);
      // A fork that begins while a text is removed would keep it.
      using forked = await edits.run(agent, () => conversations.fork(id, at));
      return await get(forked.log.id);
    },
    compact: async (by, id) => {
      checkPerson(by, change);
      await known(id);
      await minds.use(id, (conversation) => conversation.compact());
      return await get(id);
    },
    pin: async (by, id, entry, pinned) => {
      checkPerson(by, change);
      const { state } = await known(id);
      if ((await conversations.entry(id, entry)) === null) throw notFound("entry", entry);
      if (pinned && !state.pins.includes(entry) && state.pins.length >= maxPins)
        throw limitExceeded("pins", maxPins, `${maxPins} entries are pinned already. Let one go first.`);
      await minds.use(id, (conversation) => note(conversation, { kind: "pin", entry, pinned }));
      return await get(id);
    },
    redact: async (by, request) => {
      checkPerson(by, change);
      const { agent } = await known(request.id);
      const redacted = await edits.run(agent, () => redactConversation(minds, request));
      for (const id of redacted.conversations) changed.emit(await get(id).catch(() => get(request.id)));
      return redacted;
    },
    blocks: async (place) => ({ items: await listBlocks(minds, place) }),
    editBlock: async (by, edit) => {
      checkPerson(by, "change blocks");
      return await edits.run(edit.agent, () => editBlock(minds, edit));
    },
    update: async (by, id, { title, model, state, read }) => {
      checkPerson(by, change);
      checkTitle(title);
      const row = await known(id);
      // A seq that was read already, or does not exist yet, is not written down.
      const seen = Math.min(read ?? 0, row.state.seq);
      await checkModel(row.agent, model);
      if (state === "archived" && isBusy(row.state))
        throw illegalTransition("Running", "Something runs in the conversation. Stop it first.");
      const meta = {
        ...(title === undefined ? {} : { title }),
        ...(model === undefined ? {} : { model }),
        ...(state === undefined ? {} : { state }),
        ...(row.state.unreadAt.some((seq) => seq <= seen) ? { read: seen } : {}),
      };
      if (Object.keys(meta).length > 0)
        await minds.use(id, async (conversation) => {
          if (state === "archived") await conversation.followUps.endAll();
          await note(conversation, { kind: "meta", ...meta });
          await conversation.log.sync();
        });
      return await get(id);
    },
    delete: async (by, id) => {
      checkPerson(by, change);
      await known(id);
      try {
        await minds.use(id, (conversation) => conversation.cancel(by));
      } catch (error) {
        // A damaged one can be deleted too.
        if (!(error instanceof LaresError)) throw error;
        ports.log.warn(`A conversation is deleted without being read: ${messageOf(error)}`, {
          conversation: id,
        });
      }
      await minds.release(id);
      const { isKeptForForks } = await conversations.delete(id);
      deleted.emit(id);
      return { kept_for_forks: isKeptForForks };
    },
    context: async (id, process) => {
      await known(id);
      return await minds.use(id, async (conversation) => {
        const record =
          process === undefined
            ? conversation.channel
            : conversation.log.state.processes.find((each) => each.id === process);
        if (record === undefined) throw notFound("process", process ?? "");
        const { model, limit } = await windowOf(conversation.log.agent, conversation.log.state.model);
        const tail =
          (await ContextTail.load(conversation.log, record.id, ports.reader)) ??
          ContextTail.preview(
            conversation.log,
            record.id,
            await conversation.prefixFor(record),
            await ports.reader.entries(id, { audience: record.id, limit: maxSearched }),
          );
        await conversation.decisions.changes.load();
        const viewed = new MindProcess(conversation, record, "", AbortSignal.abort());
        const seen = viewed.context(tail, model);
        const counted = record.kind === "channel" ? conversation.log.state.contextTokens : 0;
        return { sections: [...seen.sections()], model, tokens: counted > 0 ? counted : seen.tokens, limit };
      });
    },
    why: async (query) => await whyOf(minds, await known(query.id), query.entry),
  };
}

function isBusy({ processes }: ConversationState): boolean {
  return processes.some(({ state }) => !endedStates.has(state) && state !== "WaitingForInput");
}

function encodeCursor(updated: string, id: string): string {
  return `${updated}_${id}`;
}

function decodeCursor(cursor: string): { readonly updated: string; readonly id: string } {
  const [updated = "", id = "", more] = cursor.split("_");
  const time = Date.parse(updated);
  if (id === "" || more !== undefined || Number.isNaN(time) || isoTime(time) !== updated)
    throw invalidParams("The cursor is not one that lares/conversations/list returned.", { path: "cursor" });
  return { updated, id };
}
