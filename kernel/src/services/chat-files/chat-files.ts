import { invalidParams, isLaresError } from "../../base/errors.ts";
import { OneAtATime } from "../../base/one-at-a-time.ts";
import type { ChatBinding, ChatBindings, FileMove } from "../../base/vocabulary/chat-binding.ts";
import type { Conversation } from "../../base/vocabulary/conversation.ts";
import type { Principal } from "../../base/vocabulary/principal.ts";
import type { Action } from "../../base/vocabulary/action.ts";
import { actionWords } from "../../base/vocabulary/effect-words.ts";
import type { ConversationService } from "../conversations.ts";
import type { FileService } from "../files.ts";
import type { ActionService, AgentService } from "../ports.ts";
import { agentHeading, answerMarkdown, remark } from "./answer-markdown.ts";
import type { Places } from "./places.ts";
import { endOfForeign, foreignPlaces, isChatFile, lastTurn } from "./turns.ts";
import { readUnwritten, type Unwritten } from "./unwritten.ts";

interface ChatFilesPorts {
  readonly conversations: ConversationService;
  readonly actions: Pick<ActionService, "get">;
  readonly agents: Pick<AgentService, "list">;
  readonly files: Pick<FileService, "pathsOf">;
  readonly bindings: ChatBindings;
}

/** An agent that a person can talk to. */
export interface ChatAgent {
  readonly id: string;
  readonly name: string;
}

/** How the conversation of a file stands. */
export interface ChatStanding {
  /** The agent that the conversation is with; null before the first message, and if it has no mind any more. */
  readonly agent: ChatAgent | null;
  /** All agents that one can talk to. */
  readonly agents: readonly ChatAgent[];
  /** Null before the first message. */
  readonly conversation: Conversation | null;
  /** The answers that are not in the file; null without a conversation. */
  readonly unwritten: Unwritten | null;
}

/** The places in a text that an editor opened. */
export interface OpenedChat {
  /** The id of the conversation that the file shows; null before the first message. */
  readonly conversation: string | null;
  readonly places: Places;
  /**
   * Why there is text that is not sent: the file is new to the kernel, or its text was changed elsewhere. Null if there
   * is none.
   */
  readonly foreign: "new" | "changed" | null;
}

/**
 * Files that show a conversation. The conversation is in the state folder, and so is which file shows it; the file is only
 * a view, into which people write their messages. What was in a file before the kernel saw somebody write it, such as in a
 * repository that was cloned, is therefore no part of a conversation, and is not sent.
 */
export class ChatFiles {
  readonly #ports: ChatFilesPorts;
  /** Changes of one file's binding, one after the other. Clients ask for them, whose open requests are limited. */
  readonly #changes = new OneAtATime();
  /** Moves, one after the other: each waits for changes of two files. */
  readonly #moves = new OneAtATime();
  /** Who writes the answers of a file, by its path: nobody else is offered to. */
  readonly #writers = new Map<string, object>();

  constructor(ports: ChatFilesPorts) {
    this.#ports = ports;
  }

  /** Returns the workspace's path of a file; null if it is outside. */
  async pathOf(uri: string): Promise<string | null> {
    return (await this.#ports.files.pathsOf(uri))[0] ?? null;
  }

  /**
   * Returns the places in the text of a file that an editor opened.
   * `isContinued`: an editor has it open since another kernel ran, so what is new in it was typed.
   */
  async opened(path: string, text: string, isContinued: boolean): Promise<OpenedChat> {
    const binding = await this.#binding(path);
    if (binding === null) {
      const places = foreignPlaces(text);
      const isEmpty = text.slice(0, places.floor).trim() === "";
      return { conversation: null, places, foreign: isEmpty ? null : "new" };
    }
    const { answer, floor, conversation } = binding;
    const isKnown = this.#begins(text, answer, binding.beforeAnswer);
    const isTyped = isContinued && isKnown && this.#begins(text, floor, binding.beforeFloor);
    if (isTyped || this.#digest(text) === binding.seen) {
      const isNew = conversation === null && text.slice(0, floor).trim() !== "";
      return { conversation, places: { answer, floor }, foreign: isNew ? "new" : null };
    }
    const end = Math.max(endOfForeign(text), isKnown ? answer : 0);
    const isNew = conversation === null && end > 0;
    const isBlocked = (lastTurn(text, isKnown ? answer : 0)?.text ?? "") !== "";
    return {
      conversation,
      places: { answer: isKnown ? answer : end, floor: end },
      foreign: isNew ? "new" : isBlocked ? "changed" : null,
    };
  }

  /**
   * Remembers the text and its places as an editor shows them. Returns the places; they are further on if another editor,
   * which has the same text, sent some of it.
   */
  async seen(path: string, text: string, { answer, floor }: Places): Promise<Places> {
    const seen = this.#digest(text);
    return await this.#changes.run(path, async () => {
      const known = await this.#binding(path);
      const isSame = known?.seen === seen;
      const places = {
        answer: Math.max(answer, isSame ? known.answer : 0),
        floor: Math.max(floor, isSame ? known.floor : 0),
      };
      if (isSame && known.answer === places.answer && known.floor === places.floor) return places;
      const beforeAnswer = this.#digest(text.slice(0, places.answer));
      const beforeFloor = this.#digest(text.slice(0, places.floor));
      const binding = known ?? newBinding(path);
      await this.#ports.bindings.put({ ...binding, ...places, beforeAnswer, beforeFloor, seen });
      return places;
    });
  }

  /** Remembers that the file has everything up to this entry. */
  async wrote(path: string, through: number): Promise<void> {
    await this.#change(path, ({ written }) => ({ written: Math.max(written, through) }));
  }

  /**
   * The index found that files were moved: each takes what is known of it along, unless something was sent from its new
   * path already. A copy takes nothing, because the file that it was made from is still there; nor does an
   * editor's backup. Returns the new paths.
   */
  async moved(moves: readonly FileMove[]): Promise<string[]> {
    const shown = moves.filter((move) => !isBackup(move));
    const known = new Set(await this.#ports.bindings.among(shown.map(({ from }) => from)));
    const taken: string[] = [];
    for (const { from, to } of shown)
      if (known.has(from) && (await this.#moves.run("moves", () => this.#move(from, to)))) taken.push(to);
    return taken;
  }

  async #move(from: string, to: string): Promise<boolean> {
    return await this.#changes.run(from, () =>
      this.#changes.run(to, async () => {
        const [binding, present] = await Promise.all([this.#binding(from), this.#binding(to)]);
        if (binding === null || (present !== null && present.conversation !== null)) return false;
        await this.#ports.bindings.move({ ...binding, path: to }, from);
        return true;
      }),
    );
  }

  async standing(path: string): Promise<ChatStanding> {
    const agents = this.#ports.agents
      .list()
      .flatMap(({ id, name, mind }) => (mind === true ? [{ id, name }] : []));
    const binding = await this.#binding(path);
    const conversation = binding === null ? null : await this.#conversationOf(binding);
    if (binding === null || conversation === null)
      return { agent: null, agents, conversation: null, unwritten: null };
    return {
      agent: agents.find(({ id }) => id === conversation.agent) ?? null,
      agents,
      conversation,
      unwritten: await readUnwritten(this.#ports.conversations, conversation, binding.written),
    };
  }

  /**
   * Sends a person's message in the file's conversation, which begins with it if there is none with this agent. Without
   * `agent`: to the one that the conversation is with, or the only one. Errors as of `lares/conversations/send`.
   */
  async send(
    by: Principal,
    path: string,
    text: string,
    agent?: string,
  ): Promise<{ readonly agent: ChatAgent; readonly conversation: string }> {
    const standing = await this.standing(path);
    const { agents } = standing;
    const only = agents.length === 1 ? agents[0] : undefined;
    const wanted = agent === undefined ? (standing.agent ?? only) : agents.find(({ id }) => id === agent);
    if (wanted === undefined) throw invalidParams(whyNobody(agents, agent), { path: "agent" });
    const { conversations } = this.#ports;
    const present = standing.conversation?.agent === wanted.id ? standing.conversation : null;
    const binding = present === null ? await this.#binding(path) : null;
    const conversation = present ?? (await conversations.open(by, { agent: wanted.id }));
    // Before anything is sent, so that a kernel that dies now finds the conversation again.
    if (present === null)
      await this.#change(path, () => ({
        agent: wanted.id,
        conversation: conversation.id,
        sent: null,
        written: 0,
      }));
    const before = (await this.#binding(path))?.sent ?? "";
    // The same key for the same text after the same message: nothing is sent twice if a kernel dies in between.
    const key = this.#digest(JSON.stringify([path, before, text]));
    let sent: string;
    try {
      sent = await conversations.send(by, { id: conversation.id, text, key });
    } catch (error) {
      if (present === null) await this.#takeBack(by, path, conversation, binding);
      throw error;
    }
    await this.#change(path, () => ({ sent }));
    return { agent: wanted, conversation: conversation.id };
  }

  /** A message was refused: the conversation that was opened for it has nothing in it, and the file shows the one before. */
  async #takeBack(
    by: Principal,
    path: string,
    { id, seq }: Conversation,
    before: ChatBinding | null,
  ): Promise<void> {
    const { conversations } = this.#ports;
    const { agent, conversation, sent, written } = before ?? newBinding(path);
    try {
      // Something may have been said in it although the request failed.
      if ((await conversations.get(id)).seq !== seq) return;
      await conversations.delete(by, id);
      await this.#change(path, () => ({ agent, conversation, sent, written }));
    } catch {
      // The conversation stays for the next message; the person is told why this one was refused.
    }
  }

  /** Stops what runs in the file's conversation. */
  async stop(by: Principal, path: string): Promise<void> {
    const binding = await this.#binding(path);
    if (binding?.conversation == null) throw invalidParams("Nothing was sent from this file yet.");
    await this.#ports.conversations.cancel(by, binding.conversation);
  }

  /** Returns the Markdown of an answer, with the heading of the agent's turn. */
  async markdownOf({ text, failure, waiting, made }: Unwritten, agent: ChatAgent): Promise<string> {
    const wordsOf = async (ids: readonly string[], isIt: (action: Action) => boolean): Promise<string[]> => {
      const actions = await Promise.all(ids.map((id) => this.#ports.actions.get(id)));
      return actions.flatMap((action) =>
        action !== null && isIt(action) ? [actionWords(action.effects)] : [],
      );
    };
    const pending = await wordsOf(waiting, ({ state }) => state === "PendingApproval");
    const unasked = await wordsOf(
      made,
      (action) => action.state === "Committed" && action.decided_by === "policy",
    );
    return [
      agentHeading(agent),
      ...(text === "" ? [] : [answerMarkdown(text)]),
      ...(failure === null ? [] : [remark(failure)]),
      ...unasked.map((words) => remark(`Changed without asking, as you decided before: ${words}`)),
      ...pending.map((words) => remark(`This waits for you: ${words} Code actions of the file decide it.`)),
    ].join("\n\n");
  }

  /** True if nobody else writes the answers of this file. */
  mayWrite(path: string, writer: object): boolean {
    const present = this.#writers.get(path);
    return present === undefined || present === writer;
  }

  /** Makes `writer` the one that gets the answers of this file. */
  claim(path: string, writer: object): void {
    this.#writers.set(path, writer);
  }

  isWriter(path: string, writer: object): boolean {
    return this.#writers.get(path) === writer;
  }

  release(path: string, writer: object): void {
    if (this.#writers.get(path) === writer) this.#writers.delete(path);
  }

  async #conversationOf({ conversation }: ChatBinding): Promise<Conversation | null> {
    if (conversation === null) return null;
    try {
      return await this.#ports.conversations.get(conversation);
    } catch (error) {
      // It was deleted.
      if (isLaresError(error, "NotFound")) return null;
      throw error;
    }
  }

  async #change(path: string, change: (binding: ChatBinding) => Partial<ChatBinding>): Promise<void> {
    await this.#changes.run(path, async () => {
      const binding = (await this.#binding(path)) ?? newBinding(path);
      await this.#ports.bindings.put({ ...binding, ...change(binding) });
    });
  }

  #binding(path: string): Promise<ChatBinding | null> {
    return this.#ports.bindings.get(path);
  }

  #begins(text: string, end: number, digest: string): boolean {
    return text.length >= end && this.#digest(text.slice(0, end)) === digest;
  }

  #digest(text: string): string {
    return this.#ports.bindings.digest(text);
  }
}

/** True if a file that shows no conversation has the name of the one that does in its own, as backups have. */
function isBackup({ from, to }: FileMove): boolean {
  return !isChatFile(to) && to.slice(to.lastIndexOf("/") + 1).includes(from.slice(from.lastIndexOf("/") + 1));
}

function newBinding(path: string): ChatBinding {
  return {
    path,
    agent: null,
    conversation: null,
    sent: null,
    written: 0,
    answer: 0,
    floor: 0,
    beforeAnswer: "",
    beforeFloor: "",
    seen: "",
  };
}

function whyNobody(agents: readonly ChatAgent[], agent: string | undefined): string {
  if (agents.length === 0)
    return "No agent of this folder has a mind, so nobody can answer. Add dev.lares.steward to extensions in lares.yaml.";
  const names = agents.map(({ id }) => id).join(", ");
  return agent === undefined
    ? `Several agents can answer. Choose one by a code action: ${names}.`
    : `There is no agent "${agent}" that can answer. There are: ${names}.`;
}
