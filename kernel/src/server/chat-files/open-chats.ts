import type { Clock } from "../../base/clock.ts";
import { invalidParams, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { OneAtATime } from "../../base/one-at-a-time.ts";
import { plainMessage } from "../../base/plain-text.ts";
import type { Conversation } from "../../base/vocabulary/conversation.ts";
import type { ChatAgent, ChatFiles, ChatStanding } from "../../services/chat-files/chat-files.ts";
import { personInsertion, turnInsertion } from "../../services/chat-files/insertions.ts";
import type { Places } from "../../services/chat-files/places.ts";
import { isChatFile, lastTurn, type OwnTurn } from "../../services/chat-files/turns.ts";
import { supports } from "../session/params.ts";
import type { Session } from "../session/session.ts";
import { alreadyWritten } from "./already-written.ts";
import { ChatDiagnostics } from "./diagnostics.ts";
import { editOf, insertInto } from "./insert.ts";
import { OpenChat } from "./open-chat.ts";
import type { ShownChat } from "./shown-chat.ts";
import { sayAnswer, sayLater, saySent } from "./words.ts";

interface OpenChatsOptions {
  readonly session: Session;
  readonly files: ChatFiles;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when the lenses of a chat file may have changed. */
  readonly lensesChanged: () => void;
}

/** An open file. */
interface Entry {
  readonly opening: Promise<OpenChat | null>;
  /** Null until the state was read, and without trust. */
  chat: OpenChat | null;
  /** The text as it was opened, which is compared with what is known of the file; what differs now was typed. */
  readonly first: string;
  /** The text now, while `chat` is null. */
  present: string;
}

/** The text of a file that is being edited is remembered this long after the last change. */
const rememberMs = 500;

/** The chat files that one client has open: sends from them, and writes the answers into them. */
export class OpenChats implements Disposable {
  readonly #options: OpenChatsOptions;
  readonly #chats = new Map<string, Entry>();
  readonly #diagnostics: ChatDiagnostics;
  /** Unbounded: an open file is looked at once at a time, and a client has a limited number of open requests. */
  readonly #turns = new OneAtATime();
  /** Files whose state is to be looked at, until that begins. */
  readonly #due = new Set<OpenChat>();
  readonly #remembering = new Map<OpenChat, Disposable>();
  /** The state from which the lenses of a file were made. */
  readonly #shown = new WeakMap<OpenChat, string>();

  constructor(options: OpenChatsOptions) {
    this.#options = options;
    this.#diagnostics = new ChatDiagnostics(options.session);
  }

  /** Called when the client opened, changed, saved or closed a file. */
  documentChanged(uri: string): void {
    if (!isChatFile(uri)) return;
    const { documents } = this.#options.session;
    const text = documents.text(uri);
    const known = this.#chats.get(uri);
    if (text === null) {
      if (known !== undefined) this.#close(uri);
    } else if (known === undefined) this.#open(uri, text);
    else if (known.chat !== null) {
      // Saved: the person may close the editor now.
      if (text === known.chat.text) this.#rememberNow(known.chat);
      this.#take(known.chat, text);
    } else known.present = text;
  }

  /** Called when a conversation has new entries. */
  conversationChanged({ id, processes }: Pick<Conversation, "id" | "processes">): void {
    for (const { chat } of this.#chats.values()) {
      // Nothing is written or shown of an answer that is being streamed.
      const isSame = isWorking(processes) && chat?.looked === statesOf(processes);
      if (chat?.conversation === id && !isSame) this.#look(chat);
    }
  }

  /** Called when files were moved, with their new paths: editors open a renamed file before the index has found it. */
  moved(paths: readonly string[]): void {
    for (const [uri, entry] of Array.from(this.#chats)) void this.#reopenIfMoved(uri, entry, paths);
  }

  async #reopenIfMoved(uri: string, entry: Entry, paths: readonly string[]): Promise<void> {
    const chat = await entry.opening.catch(() => null);
    if (chat === null || !paths.includes(chat.path) || this.#chats.get(uri) !== entry) return;
    // The text to be remembered for the file was worked out before the move was known.
    this.#remembering.get(chat)?.[Symbol.dispose]();
    this.#remembering.delete(chat);
    this.#options.files.release(chat.path, chat);
    this.#chats.delete(uri);
    this.#open(uri, entry.first, chat.text);
  }

  /** Called when this client became trusted or untrusted: only a trusted one reads and writes the state. */
  trustChanged(): void {
    for (const [uri, { first, present, chat }] of Array.from(this.#chats)) {
      this.#close(uri);
      this.#open(uri, chat?.text ?? first, chat?.text ?? present);
    }
  }

  /** Returns what is to be shown of a chat file; null for other files. */
  async shown(uri: string): Promise<ShownChat | null> {
    const chat = await this.#chats.get(uri)?.opening;
    if (chat === null || chat === undefined || !this.#options.session.trusted) return null;
    const standing = await this.#options.files.standing(chat.path);
    const { unwritten } = standing;
    const { files } = this.#options;
    const isMissing = unwritten?.isOver === true && unwritten.isAnswer && files.mayWrite(chat.path, chat);
    const isDue = isMissing && files.isWriter(chat.path, chat);
    return {
      chat,
      standing,
      turn: lastTurn(chat.text, chat.places.floor),
      missing: isMissing && !isDue ? unwritten : null,
      isDue,
      isWorking:
        unwritten !== null && (!unwritten.isOver || isWorking(standing.conversation?.processes ?? [])),
    };
  }

  /** Sends what the person wrote. Errors as of `lares/conversations/send`; InvalidParams if there is nothing to send. */
  async send(uri: string, agent?: string): Promise<void> {
    const { session, files } = this.#options;
    const chat = await this.#opened(uri);
    const sentTo = await this.#turns.run(uri, async () => {
      const turn = lastTurn(chat.text, chat.places.floor);
      if (turn === null || turn.text === "") throw invalidParams(whyNothing(chat, turn));
      chat.sending = { answer: turn.end, floor: turn.end };
      try {
        const { client } = session;
        const sent = await files.send(client.principal, chat.path, turn.text, agent);
        chat.places = chat.sending;
        chat.foreign = null;
        chat.conversation = sent.conversation;
        return sent.agent;
      } finally {
        chat.sending = null;
      }
    });
    files.claim(chat.path, chat);
    await this.#remember(chat);
    saySent(session, sentTo);
    this.#look(chat);
  }

  async stop(uri: string): Promise<void> {
    const chat = await this.#opened(uri);
    await this.#options.files.stop(this.#options.session.client.principal, chat.path);
    this.#look(chat);
  }

  /** Writes what was answered and is not in the file. */
  async write(uri: string): Promise<void> {
    const chat = await this.#opened(uri);
    const { files } = this.#options;
    if (!files.mayWrite(chat.path, chat))
      throw invalidParams("Another editor, which sent the message, writes the answer.");
    files.claim(chat.path, chat);
    chat.shownThrough = 0;
    await this.#deliver(chat);
  }

  /** Adds a heading for the person's next message at the end of the file. */
  async begin(uri: string): Promise<void> {
    const { session, clock } = this.#options;
    const chat = await this.#opened(uri);
    const outcome = await this.#turns.run(uri, () =>
      insertInto(chat, session, clock, beginning, "Lares: a heading for your message"),
    );
    if (outcome === "refused")
      throw invalidParams('The editor refused the edit. Write "## You" on a line of its own at the end.');
  }

  /** Returns the edit that `write` or `begin` would ask for, for clients that apply those of code actions only. */
  async offeredEdit({ chat, missing, standing }: ShownChat): Promise<ReturnType<typeof editOf>> {
    const { files, session } = this.#options;
    const insertion =
      missing === null
        ? beginning(chat.text)
        : {
            ...answerAt(chat, await files.markdownOf(missing, agentOf(standing))),
            through: missing.through,
          };
    chat.insertion = { ...insertion };
    return editOf(chat, session, insertion);
  }

  [Symbol.dispose](): void {
    for (const chat of this.#remembering.keys()) this.#rememberNow(chat);
    for (const { chat } of this.#chats.values())
      if (chat !== null) this.#options.files.release(chat.path, chat);
    this.#chats.clear();
  }

  #open(uri: string, first: string, present = first): void {
    // After what was remembered when it was closed.
    const opening = this.#turns.run(`open ${uri}`, () => this.#load(uri, first));
    const entry: Entry = { opening, chat: null, first, present };
    this.#chats.set(uri, entry);
    entry.opening
      .then((chat) => {
        if (this.#chats.get(uri) !== entry || chat === null) return;
        entry.chat = chat;
        // Text was typed meanwhile.
        const present = this.#options.session.documents.text(uri);
        if (present !== null) this.#take(chat, present);
        this.#look(chat);
      })
      .catch((error: unknown) => this.#options.log.error(`${uri} could not be read: ${messageOf(error)}`));
  }

  async #load(uri: string, text: string): Promise<OpenChat | null> {
    const { files, session } = this.#options;
    const path = await files.pathOf(uri);
    if (path === null || !session.trusted) return null;
    const opened = await files.opened(path, text, session.documents.isContinued(uri));
    const places = await files.seen(path, text, opened.places);
    return new OpenChat(uri, path, text, { ...opened, places });
  }

  #close(uri: string): void {
    const entry = this.#chats.get(uri);
    this.#chats.delete(uri);
    if (entry === undefined) return;
    const { chat } = entry;
    if (chat === null) void this.#keepUnread(uri, entry);
    else {
      this.#rememberNow(chat);
      this.#options.files.release(chat.path, chat);
    }
    this.#diagnostics.closed(uri);
  }

  /** Remembers the text of a file that was closed before its state was read. */
  async #keepUnread(uri: string, { opening, present }: Entry): Promise<void> {
    await this.#turns.run(`open ${uri}`, async () => {
      const chat = await opening.catch(() => null);
      if (chat === null) return;
      chat.take(present);
      await this.#remember(chat);
    });
  }

  #take(chat: OpenChat, text: string): void {
    if (text === chat.text) return;
    const reached = chat.take(text);
    this.#remembering.get(chat)?.[Symbol.dispose]();
    this.#remembering.set(
      chat,
      this.#options.clock.timer(rememberMs, () => {
        this.#remembering.delete(chat);
        void this.#remember(chat).then(() => this.#look(chat));
      }),
    );
    if (reached === null) return;
    if (reached.through === null) chat.foreign = null;
    void this.#reached(chat, reached.through);
  }

  /** Remembers what was typed since it was remembered last. */
  #rememberNow(chat: OpenChat): void {
    this.#remembering.get(chat)?.[Symbol.dispose]();
    if (!this.#remembering.delete(chat)) return;
    void this.#turns.run(`open ${chat.uri}`, () => this.#remember(chat));
  }

  async #reached(chat: OpenChat, through: number | null): Promise<void> {
    try {
      if (through !== null) await this.#options.files.wrote(chat.path, through);
    } catch (error) {
      this.#options.log.error(`What is in ${chat.path} was not stored: ${messageOf(error)}`);
    }
    await this.#remember(chat);
    this.#look(chat);
  }

  async #remember(chat: OpenChat): Promise<void> {
    if (!this.#options.session.trusted) return;
    const { text } = chat;
    try {
      const places = await this.#options.files.seen(chat.path, text, chat.places);
      // A message may have been sent meanwhile, which puts them further on.
      if (chat.text === text) chat.places = furtherOf(chat.places, places);
    } catch (error) {
      this.#options.log.error(`The text of ${chat.path} was not remembered: ${messageOf(error)}`);
    }
  }

  /** Looks at the state of a file's conversation soon: what is to be written, and what its lenses show. */
  #look(chat: OpenChat): void {
    if (this.#due.has(chat)) return;
    this.#due.add(chat);
    void this.#turns
      .run(`look ${chat.uri}`, async () => {
        this.#due.delete(chat);
        await this.#lookNow(chat);
      })
      .catch((error: unknown) =>
        this.#options.log.error(`The state of ${chat.path} could not be read: ${messageOf(error)}`),
      );
  }

  async #lookNow(chat: OpenChat): Promise<void> {
    const shown = await this.shown(chat.uri);
    if (shown === null || shown.chat !== chat) return;
    const there = await alreadyWritten(shown, this.#options.files);
    if (there !== null) return this.#reached(Object.assign(chat, { places: there.places }), there.through);
    const { missing, isWorking, turn } = shown;
    chat.looked = statesOf(shown.standing.conversation?.processes ?? []);
    const facts = JSON.stringify([missing?.through, isWorking, turn?.text === "", turn?.start, chat.foreign]);
    if (this.#shown.get(chat) !== facts) {
      this.#shown.set(chat, facts);
      this.#options.lensesChanged();
    }
    this.#diagnostics.publish(shown);
    if (shown.isDue) await this.#deliver(chat);
  }

  async #deliver(chat: OpenChat): Promise<void> {
    const { files, session, clock } = this.#options;
    await this.#turns.run(chat.uri, async () => {
      const standing = await files.standing(chat.path);
      const { unwritten } = standing;
      if (unwritten === null || !unwritten.isOver || !unwritten.isAnswer) return;
      if (unwritten.through <= chat.shownThrough) return;
      const agent = agentOf(standing);
      const markdown = await files.markdownOf(unwritten, agent);
      if (!supports(session, "workspace", "applyEdit")) {
        chat.shownThrough = unwritten.through;
        files.release(chat.path, chat);
        sayAnswer(session, agent, markdown);
        return;
      }
      const outcome = await insertInto(
        chat,
        session,
        clock,
        () => ({ ...answerAt(chat, markdown), through: unwritten.through }),
        `Lares: the answer of ${plainMessage(agent.name)}`,
      );
      if (outcome === "written") return;
      files.release(chat.path, chat);
      if (outcome === "refused") sayLater(session, agent);
    });
    if (!files.isWriter(chat.path, chat)) this.#look(chat);
  }

  async #opened(uri: string): Promise<OpenChat> {
    const chat = await this.#chats.get(uri)?.opening;
    if (chat !== null && chat !== undefined && this.#options.session.trusted) return chat;
    throw invalidParams(
      'The file is not open here, or is none in this workspace whose name ends with ".chat.md".',
      { path: "uri" },
    );
  }
}

function furtherOf(one: Places, other: Places): Places {
  return { answer: Math.max(one.answer, other.answer), floor: Math.max(one.floor, other.floor) };
}

function answerAt(chat: OpenChat, markdown: string): { at: number; text: string } {
  const at = chat.places.answer;
  return { at, text: turnInsertion(chat.text, at, markdown) };
}

function beginning(text: string): { at: number; text: string; through: null } {
  return { at: text.length, text: personInsertion(text), through: null };
}

function agentOf({ agent, conversation }: ChatStanding): ChatAgent {
  const id = conversation?.agent ?? "";
  return agent ?? { id, name: id };
}

function statesOf(processes: Conversation["processes"]): string {
  return processes.map(({ id, state }) => `${id} ${state}`).join();
}

function isWorking(processes: Conversation["processes"]): boolean {
  return processes.some(
    ({ state }) => state === "Running" || state === "Waiting" || state === "WaitingForApproval",
  );
}

function whyNothing({ foreign, text }: OpenChat, turn: OwnTurn | null): string {
  if (turn !== null) return 'There is nothing below the last "## You" yet.';
  if (foreign === null && lastTurn(text) === null)
    return 'Write your message below a line "## You" at the end of the file.';
  return 'What stands below the last "## You" was sent already, or was in the file before. Write below a new "## You" at the end; a code action adds it.';
}
