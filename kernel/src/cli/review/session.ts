import { messageOf } from "../../base/errors.ts";
import type { Action } from "../../base/vocabulary/action.ts";
import type { KernelClient } from "../kernel-client.ts";
import { renderReview } from "./render/screen.ts";
import type { ScreenStyle } from "../render/screen-style.ts";
import { wholeAction } from "../run/whole-action.ts";
import type { Terminal } from "../terminal.ts";
import { contentOf, editedText, partialContent, textOf } from "./contents.ts";
import { editorOf, editText } from "./editor.ts";
import type { Command, Input, Verb } from "./input.ts";
import { readKeys } from "../keyboard/keys.ts";
import type { Screen } from "./screen.ts";
import { newReview, type ReviewState } from "./state/state.ts";
import { update } from "./update.ts";

/** Notifications that arrive within this time are drawn together. */
const newsMs = 16;
const ageMs = 30_000;
/** How many actions of each kind the review lists at first, newest first. */
const maxWaiting = 1000;
const maxOthers = 100;

interface SessionPorts {
  readonly kernel: KernelClient;
  readonly screen: Screen;
  readonly terminal: Terminal;
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly environment: NodeJS.ProcessEnv;
}

type End =
  | { readonly kind: "quit" }
  | { readonly kind: "signal"; readonly signal: "SIGTERM" | "SIGHUP" }
  | { readonly kind: "gone"; readonly reason: string };

/** A review in a terminal: takes keys and notifications, draws the screen and sends requests to the kernel. */
export class ReviewSession implements Disposable {
  readonly #ports: SessionPorts;
  readonly #resources = new DisposableStack();
  readonly #end: PromiseWithResolvers<End> = Promise.withResolvers();
  #state: ReviewState;
  #isDrawDue = false;
  #isEditing = false;
  #news: Action[] = [];
  /** Decisions are carried out one after the other, in the order of the keys. */
  #decisions: Promise<void> = Promise.resolve();

  constructor(ports: SessionPorts, screenStyle: ScreenStyle, workspace: string) {
    this.#ports = ports;
    this.#state = newReview(screenStyle, ports.screen.size, workspace, Date.now());
  }

  /**
   * Resolves when the person has left, or when the session ended for another reason. Rejects after an internal error.
   */
  async run(): Promise<End> {
    const { kernel, screen, input } = this.#ports;
    this.#listen();
    const lists = await Promise.all([
      kernel.actions({ state: "PendingApproval", limit: maxWaiting }),
      kernel.actions({ state: "Stale", limit: maxOthers }),
      kernel.actions({ state: "Committed", limit: maxOthers }),
    ]);
    // Changes that arrived while the lists were being loaded are newer than the lists.
    const newer = new Set(this.#news.map(({ id }) => id));
    screen.enter();
    this.#resources.use(
      readKeys(input, {
        key: (key) => this.#send({ kind: "key", key, atMs: performance.now() }),
        paste: (text) => this.#send({ kind: "paste", text }),
      }),
    );
    this.#send({ kind: "actions", actions: lists.flat().filter(({ id }) => !newer.has(id)) });
    this.#tellNews();
    return this.#end.promise;
  }

  #listen(): void {
    const { kernel, screen, terminal, output } = this.#ports;
    const resources = this.#resources;
    resources.use(
      kernel.on("lares/actions/changed", (action) => {
        this.#news.push(action);
        if (this.#news.length === 1) setTimeout(() => this.#tellNews(), newsMs);
      }),
    );
    void kernel.closed.then(({ reason }) => this.#end.resolve({ kind: "gone", reason }));
    const onResize = (): void => this.#send({ kind: "resized", size: screen.size });
    const onContinue = (): void => {
      if (this.#isEditing) return;
      screen.enter();
      screen.clear();
      this.#send({ kind: "resized", size: screen.size });
    };
    const onStop = (): void => {
      if (!this.#isEditing) screen.leave();
      process.kill(process.pid, "SIGSTOP");
    };
    const onHangUp = (): void => this.#end.resolve({ kind: "signal", signal: "SIGHUP" });
    // An uncaught error is printed on the main screen, where it stays visible.
    const onFault = (): void => screen.leave();
    output.on("resize", onResize);
    process.on("SIGCONT", onContinue);
    process.on("SIGTSTP", onStop);
    process.on("SIGHUP", onHangUp);
    process.on("uncaughtExceptionMonitor", onFault);
    resources.defer(() => {
      output.off("resize", onResize);
      process.off("SIGCONT", onContinue);
      process.off("SIGTSTP", onStop);
      process.off("SIGHUP", onHangUp);
      process.off("uncaughtExceptionMonitor", onFault);
    });
    const silence = terminal.silence;
    terminal.silence = (text) =>
      this.#send({ kind: "failed", id: "", message: text ?? "The kernel answers again." });
    resources.defer(() => void (terminal.silence = silence));
    const ages = setInterval(() => this.#send({ kind: "tick", nowMs: Date.now() }), ageMs);
    resources.defer(() => clearInterval(ages));
    const onInterrupt = (): void =>
      this.#end.resolve(
        terminal.interrupted.reason === "SIGTERM" ? { kind: "signal", signal: "SIGTERM" } : { kind: "quit" },
      );
    if (terminal.interrupted.aborted) onInterrupt();
    terminal.interrupted.addEventListener("abort", onInterrupt);
    resources.defer(() => terminal.interrupted.removeEventListener("abort", onInterrupt));
  }

  #tellNews(): void {
    const news = this.#news;
    this.#news = [];
    if (news.length > 0) this.#send({ kind: "actions", actions: news });
  }

  #send(input: Input): void {
    try {
      const { state, commands } = update(this.#state, input);
      this.#state = state;
      for (const command of commands) this.#do(command);
      if (input.kind !== "drawn") this.#drawSoon();
    } catch (error) {
      this.#end.reject(error);
    }
  }

  #drawSoon(): void {
    if (this.#isDrawDue) return;
    this.#isDrawDue = true;
    setImmediate(() => {
      this.#isDrawDue = false;
      if (this.#isEditing) return;
      try {
        this.#ports.screen.draw(renderReview(this.#state));
        this.#send({ kind: "drawn", atMs: performance.now() });
      } catch (error) {
        this.#end.reject(error);
      }
    });
  }

  #do(command: Command): void {
    const { kernel, screen } = this.#ports;
    switch (command.kind) {
      case "load":
        void this.#answering(command.id, async () => {
          const whole = await wholeAction(kernel, await kernel.action(command.id));
          this.#send({ kind: "whole", id: command.id, whole });
        });
        return;
      case "approve":
        return this.#decide("approve", command.id, async () => this.#approve(command));
      case "reject":
        return this.#decide("reject", command.id, () => kernel.reject(command.id, command.reason));
      case "undo":
        return this.#decide("undo", command.id, () => kernel.undo(command.id));
      case "rebase":
        return this.#decide("rebase", command.id, () => kernel.rebase(command.id));
      case "edit":
        void this.#answering(command.id, () => this.#edit(command.id, command.effect));
        return;
      case "quit":
        return this.#end.resolve({ kind: "quit" });
      case "suspend":
        // Sent to the whole process group, as a terminal does outside raw mode.
        process.kill(0, "SIGTSTP");
        return;
      case "redraw":
        return screen.clear();
    }
  }

  #decide(verb: Verb, id: string, ask: () => Promise<Action>): void {
    this.#decisions = this.#decisions.then(() =>
      this.#answering(id, async () => this.#send({ kind: "decided", verb, id, action: await ask() })),
    );
  }

  async #approve(command: Command & { kind: "approve" }): Promise<Action> {
    const { kernel } = this.#ports;
    const { id, digest, action, effects, hunks = new Map(), edits: written = new Map(), rules } = command;
    const edits = [...written]
      .filter(([effect]) => effects?.includes(effect) ?? true)
      .map(([effect, { text }]) => ({ effect, content: text }));
    if (action !== undefined)
      for (const [effect, kept] of hunks)
        edits.push({ effect, content: await partialContent(kernel, action, effect, kept) });
    return kernel.approve(id, {
      digest,
      ...(effects === undefined ? {} : { effects }),
      ...(edits.length === 0 ? {} : { edits }),
      ...(rules === undefined ? {} : { remember: "always" as const, rules }),
    });
  }

  async #edit(id: string, effect: number): Promise<void> {
    const { kernel, screen, terminal, environment } = this.#ports;
    const editor = editorOf(environment);
    if (editor === null)
      throw new Error("No editor is configured. Set one first, for example: export EDITOR=nano");
    const action = this.#state.actions.get(id);
    const before =
      action?.effects[effect]?.before == null ? "" : textOf(await contentOf(kernel, id, effect, "before"));
    const proposed = textOf(await contentOf(kernel, id, effect, "after"));
    const earlier = this.#state.card?.id === id ? this.#state.card.edits.get(effect)?.text : undefined;
    this.#isEditing = true;
    screen.leave();
    try {
      const path = action?.effects[effect]?.path ?? "";
      const bytes = await terminal.lend(() => editText(editor, path, Buffer.from(earlier ?? proposed)));
      this.#send({ kind: "edited", id, effect, edited: editedText(before, proposed, textOf(bytes)) });
    } finally {
      this.#isEditing = false;
      screen.enter();
      this.#send({ kind: "resized", size: screen.size });
    }
  }

  /** Runs the work and shows its error on the screen; a lost connection ends the review by itself. */
  async #answering(id: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#send({ kind: "failed", id, message: messageOf(error) });
    }
  }

  [Symbol.dispose](): void {
    this.#resources.dispose();
    this.#ports.screen[Symbol.dispose]();
  }
}
