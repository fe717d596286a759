import { join } from "node:path";
import { messageOf } from "../../base/errors.ts";
import type { Conversation } from "../../base/vocabulary/conversation.ts";
import { renderChat } from "./render/screen.ts";
import type { ScreenStyle } from "../render/screen-style.ts";
import { readKeys } from "../keyboard/keys.ts";
import { maxPasted } from "../keyboard/type-ahead.ts";
import type { KernelClient } from "../kernel-client.ts";
import type { Screen } from "../review/screen.ts";
import { waitingNotifications } from "../render/notifications.ts";
import type { Terminal } from "../terminal.ts";
import type { ChatCommand, ChatInput, KernelCommand } from "./input.ts";
import { carryOut } from "./carry-out.ts";
import { ConversationLink } from "./link.ts";
import { Completion } from "./completion.ts";
import { Frames } from "./frames.ts";
import { namedFiles } from "./files.ts";
import type { OpenedChat } from "./open.ts";
import { isAtWork, newChat, type ChatState } from "./state/state.ts";
import { update } from "./update.ts";

const tickMs = 500;

type ChatEnd =
  | { readonly kind: "quit" }
  | { readonly kind: "signal"; readonly signal: "SIGTERM" | "SIGHUP" }
  | { readonly kind: "deleted" }
  | { readonly kind: "gone"; readonly reason: string };

interface SessionPorts {
  readonly screen: Screen;
  readonly terminal: Terminal;
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
}

/** A conversation in a terminal: takes keys and news, draws the screen and sends requests to the kernel. */
export class ChatSession implements AsyncDisposable {
  readonly #ports: SessionPorts;
  readonly #chat: OpenedChat;
  readonly #link: ConversationLink;
  readonly #resources = new DisposableStack();
  readonly #end: PromiseWithResolvers<ChatEnd> = Promise.withResolvers();
  #state: ChatState;
  #isNew: boolean;
  readonly #frames = this.#resources.use(new Frames(() => this.#draw()));
  /** The word that is being completed. */
  readonly #completion = new Completion(
    () => this.#link.kernel,
    (found) => this.#send({ kind: "files", ...found }),
  );
  readonly #carrier: Parameters<typeof carryOut>[1];
  /** The last entry that the kernel was told the person has seen. */
  #readSeq = 0;

  constructor(ports: SessionPorts, chat: OpenedChat, screenStyle: ScreenStyle) {
    this.#ports = ports;
    this.#chat = chat;
    this.#isNew = chat.isNew;
    const { conversation, rehearsal } = chat;
    this.#state = newChat({
      screenStyle,
      size: ports.screen.size,
      nowMs: Date.now(),
      agentName: this.#nameOf(conversation),
      rehearsal,
      conversation,
    });
    // Both are read again after each wait: a kernel may have died, and the person may have left the conversation.
    const kernel = (): KernelClient => this.#link.kernel;
    const shown = (): Conversation => this.#state.conversation;
    this.#carrier = {
      get kernel() {
        return kernel();
      },
      get conversation() {
        return shown();
      },
      opened: chat,
      isEmpty: () => this.#isEmpty(),
      send: (input) => this.#send(input),
      show: (shownNext, isNew, isCopy) => this.#show(shownNext, isNew, isCopy),
      look: (word) => this.#completion.look(word),
    };
    const { interrupted } = ports.terminal;
    this.#link = new ConversationLink(
      chat.connection,
      { connect: () => chat.connect(), interrupted, isWatched: true },
      {
        news: (news) => this.#send({ kind: "news", news }),
        conversation: (changed) => {
          this.#send({ kind: "conversation", conversation: changed });
          void this.#markRead(changed);
        },
        deleted: () => this.#end.resolve({ kind: "deleted" }),
        action: (action) => this.#send({ kind: "action", action }),
        ask: (ask) => this.#send({ kind: "ask", ask }),
        notice: (notice) => this.#send({ kind: "notice", notice }),
        cutOff: (isCutOff) => this.#send({ kind: "link", isCutOff }),
        gone: (reason) => this.#end.resolve({ kind: "gone", reason }),
      },
    );
  }

  /** The conversation that was shown last; null if nothing was said in it, so that it was deleted. */
  get left(): Conversation | null {
    return this.#isEmpty() ? null : this.#state.conversation;
  }

  /** Resolves when the person has left, or when the session ended for another reason. */
  async run(): Promise<ChatEnd> {
    const { screen, input } = this.#ports;
    this.#listen();
    await this.#link.follow(this.#state.conversation.id);
    // A command would ask the person's own models.
    if (this.#chat.rehearsal === null)
      this.#send({ kind: "offered", commands: await this.#link.kernel.commands() });
    const { stateFolder } = await this.#link.kernel.status();
    this.#send({ kind: "workspace", ownDocument: join(stateFolder, "lares.yaml") });
    const { total } = await this.#link.kernel.notifications({ state: "New", limit: 1 });
    if (total > 0) this.#say(waitingNotifications(total));
    const typed = this.#ports.terminal.takeTyped();
    screen.enter();
    this.#resources.use(
      readKeys(
        input,
        {
          key: (key) => this.#send({ kind: "key", key, atMs: Date.now() }),
          paste: (text) => this.#send({ kind: "paste", text }),
        },
        maxPasted,
      ),
    );
    for (const input of typed) this.#send(input.kind === "key" ? { ...input, atMs: Date.now() } : input);
    this.#frames.open();
    return this.#end.promise;
  }

  #listen(): void {
    const { screen, terminal, output } = this.#ports;
    const onResize = (): void => this.#send({ kind: "resized", size: screen.size });
    const onContinue = (): void => {
      screen.enter();
      screen.clear();
      onResize();
    };
    const onStop = (): void => {
      screen.leave();
      process.kill(process.pid, "SIGSTOP");
    };
    const onHangUp = (): void => this.#end.resolve({ kind: "signal", signal: "SIGHUP" });
    const onFault = (): void => screen.leave();
    const onInterrupt = (): void =>
      this.#end.resolve(
        terminal.interrupted.reason === "SIGTERM" ? { kind: "signal", signal: "SIGTERM" } : { kind: "quit" },
      );
    output.on("resize", onResize);
    process.on("SIGCONT", onContinue);
    process.on("SIGTSTP", onStop);
    process.on("SIGHUP", onHangUp);
    process.on("uncaughtExceptionMonitor", onFault);
    if (terminal.interrupted.aborted) onInterrupt();
    terminal.interrupted.addEventListener("abort", onInterrupt);
    const silence = terminal.silence;
    terminal.silence = (text) =>
      this.#send(
        text === null
          ? { kind: "said", text: "The kernel answers again." }
          : { kind: "failed", message: text },
      );
    const ticking = setInterval(() => this.#send({ kind: "tick", nowMs: Date.now() }), tickMs);
    this.#resources.defer(() => {
      terminal.silence = silence;
      output.off("resize", onResize);
      process.off("SIGCONT", onContinue);
      process.off("SIGTSTP", onStop);
      process.off("SIGHUP", onHangUp);
      process.off("uncaughtExceptionMonitor", onFault);
      terminal.interrupted.removeEventListener("abort", onInterrupt);
      clearInterval(ticking);
    });
  }

  #send(input: ChatInput): void {
    try {
      const { state, commands } = update(this.#state, input);
      this.#state = state;
      for (const command of commands) this.#do(command);
      if (input.kind === "news" || input.kind === "tick") this.#frames.soon();
      else if (input.kind !== "drawn") this.#frames.now();
    } catch (error) {
      this.#end.reject(error);
    }
  }

  #draw(): void {
    try {
      const { frame, cursor } = renderChat(this.#state);
      this.#ports.screen.draw(frame, cursor);
      this.#send({ kind: "drawn" });
    } catch (error) {
      this.#end.reject(error);
    }
  }

  #do(command: ChatCommand): void {
    const { screen } = this.#ports;
    if (command.kind === "quit") this.#end.resolve({ kind: "quit" });
    // Sent to the whole process group, as a terminal does outside raw mode.
    else if (command.kind === "suspend") process.kill(0, "SIGTSTP");
    else if (command.kind === "redraw") screen.clear();
    else if (command.kind === "send") void this.#deliver(command.key, command.text);
    else void this.#answering(command);
  }

  async #deliver(key: string, text: string): Promise<void> {
    const { id } = this.#state.conversation;
    try {
      const parts = await namedFiles(this.#link.kernel, text, (sentence) => this.#say(sentence));
      // The key makes a message that is sent again to the next kernel the same message.
      // From here on something is said in it, although its entry may come later.
      this.#isNew = false;
      await this.#link.ask((kernel) => kernel.send({ id, key, ...(parts === null ? { text } : { parts }) }));
      this.#send({ kind: "sent", key, failure: null });
    } catch (error) {
      this.#send({ kind: "sent", key, failure: messageOf(error) });
    }
  }

  /** Carries out a command, and shows its error on the screen. */
  async #answering(command: KernelCommand): Promise<void> {
    try {
      await carryOut(command, this.#carrier);
    } catch (error) {
      this.#send({
        kind: "failed",
        message: messageOf(error),
        ...("id" in command ? { id: command.id } : {}),
      });
    }
  }

  #say(text: string): void {
    this.#send({ kind: "said", text });
  }

  /** Tells the kernel what the person has seen, once nothing is being written. */
  async #markRead({ id, seq, unread }: Conversation): Promise<void> {
    if (unread === 0 || seq <= this.#readSeq || isAtWork(this.#state)) return;
    this.#readSeq = seq;
    // It stays unread elsewhere if the kernel does not take it.
    await this.#link.kernel.updateConversation({ id, read: seq }).catch(() => null);
  }

  /** Shows another conversation, and deletes the one before if nothing was said in it. */
  async #show(conversation: Conversation, isNew: boolean, isCopy = false): Promise<void> {
    const before = this.#isEmpty() ? this.#state.conversation.id : null;
    this.#isNew = isNew;
    this.#readSeq = 0;
    this.#send({ kind: "opened", conversation, agentName: this.#nameOf(conversation), isCopy });
    await this.#link.follow(conversation.id);
    if (before !== null) await this.#link.kernel.deleteConversation(before).catch(() => null);
  }

  #nameOf({ agent }: Conversation): string {
    return this.#chat.agents.find(({ id }) => id === agent)?.name ?? agent;
  }

  #isEmpty(): boolean {
    return this.#isNew && this.#state.transcript.messages.size === 0 && this.#state.sending.length === 0;
  }

  async #deleteIfEmpty(): Promise<void> {
    if (this.#isEmpty())
      await this.#link.kernel.deleteConversation(this.#state.conversation.id).catch(() => null);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#resources.dispose();
    this.#ports.screen[Symbol.dispose]();
    await this.#deleteIfEmpty();
    await this.#link[Symbol.asyncDispose]();
  }
}
