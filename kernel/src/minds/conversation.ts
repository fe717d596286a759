import { messageOf, notFound, requestCancelled } from "../base/errors.ts";
import { Emitter } from "../base/emitter.ts";
import { endedStates, type Process } from "../base/vocabulary/conversation.ts";
import type { Principal, ProcessPrincipal } from "../base/vocabulary/principal.ts";
import type { SuffixPart } from "../context/context.ts";
import { prefixOf, type ContextPrefix } from "../context/prefix.ts";
import type { ConversationLog } from "../conversations/conversation-log.ts";
import type { OpenLog } from "../conversations/open-logs.ts";
import type { LoggedCall } from "./answer-writer.ts";
import { writtenMessage } from "./attachments.ts";
import { Compactor } from "./compactor.ts";
import { Contexts } from "./contexts.ts";
import { ContextTail } from "./context-tail.ts";
import type { OpenReference } from "../conversations/fold.ts";
import { stopped } from "./ends.ts";
import { entryOf, type EntryMaker } from "./entries.ts";
import { processTools } from "./process-tools.ts";
import type { NewPart } from "./sent-parts.ts";
import { OwnTools } from "./own-tools.ts";
import { HeldPlaces } from "./held-places.ts";
import { groupsOf, type Places } from "./places.ts";
import type { RestingContexts } from "./resting-contexts.ts";
import { Wakes } from "./wakes.ts";
import type { Mind, MindPorts } from "./ports.ts";
import { Paused, Unattended } from "./interruptions.ts";
import { MindProcess } from "./process.ts";
import { HeldInputs } from "./held-inputs.ts";
import { endOf } from "./scheduled.ts";
import { atWork, exhausted, isOpen, treeOf, unreadOf } from "./turns.ts";
import {
  type AtWork,
  type ConversationHost,
  type Filled,
  type GivenContext,
  mindOf,
  principalOf,
} from "./host.ts";
import { Decisions } from "./decisions.ts";
import { titleOf } from "./beginning.ts";
import { suffixOf } from "./status.ts";
import { untilEnded } from "./until-ended.ts";

export interface ConversationParts {
  readonly ports: MindPorts;
  readonly places: Places;
  readonly resting: RestingContexts;
  /** How many processes may work at once: in all conversations, and in one. */
  limits(): { readonly atOnce: number; readonly processes: number };
  /** Nothing works in it any more. */
  rested(): void;
}

interface Running {
  readonly process: MindProcess;
  readonly abort: AbortController;
  readonly done: Promise<void>;
}

/** One conversation at work: its processes, what wakes them, and what ends them. */
export class MindConversation implements ConversationHost, AsyncDisposable {
  readonly ports: MindPorts;
  readonly log: ConversationLog;
  readonly inputs = new HeldInputs(this);
  readonly decisions: Decisions;
  readonly #parts: ConversationParts;
  readonly #used: OpenLog;
  readonly #running = new Map<string, Running>();
  readonly #places: HeldPlaces;
  readonly #ownTools: OwnTools;
  readonly #compactor: Compactor;
  readonly #contexts: Contexts;
  readonly #listening: Disposable;
  readonly #wakes: Wakes;
  /** Nothing begins any more: the next kernel continues. */
  isStopping = false;
  /** Set while nobody is there: processes end before their next request, and continue later. */
  isUnattended = false;
  readonly left = new Emitter<void>();

  constructor(parts: ConversationParts, used: OpenLog) {
    this.#parts = parts;
    this.ports = parts.ports;
    this.#used = used;
    this.log = used.log;
    this.#places = new HeldPlaces(parts.places);
    this.#ownTools = new OwnTools(this);
    this.#wakes = new Wakes({
      clock: this.ports.clock,
      wake: () => {
        // It may have read what was found while it answered something else.
        if (this.#contexts.hasUnread(this.channel)) this.wake();
        else if (this.isIdle) this.#parts.rested();
      },
      exhausted: () => {
        this.#notice(exhausted);
        if (this.isIdle) this.#parts.rested();
      },
    });
    this.#contexts = new Contexts(this, parts.resting);
    this.#compactor = new Compactor(this);
    this.decisions = new Decisions(this);
    this.#listening = this.log.appended.on((entries) => this.#contexts.take(entries));
  }

  get isIdle(): boolean {
    return this.#running.size === 0 && this.#isQuiet;
  }

  /** True if nothing happens before the person decides. */
  get isOnlyWaiting(): boolean {
    const running = this.#running.values().map(({ process }) => process.record.state);
    return this.#isQuiet && running.every((state) => state === "WaitingForApproval");
  }

  get #isQuiet(): boolean {
    return !this.#wakes.isGathering && !this.inputs.isHeld && !this.#compactor.isBusy;
  }

  /** Returns the process that talks to the person. Every conversation begins with one. */
  get channel(): Process {
    if (this.talker !== null) return this.talker;
    throw new Error(`The conversation ${this.log.id} has no channel.`);
  }

  /** The channel; null in the log of a mind itself. */
  get talker(): Process | null {
    return this.log.state.processes.find(({ kind }) => kind === "channel") ?? null;
  }

  /** Ends the work before the next requests, without writing an end: somebody will continue it. */
  stopAtNextRequest(): void {
    this.isUnattended = true;
    this.left.emit();
    this.#wakes.stop();
    if (this.isIdle) this.#parts.rested();
  }

  /** Continues the processes that had not ended when a kernel died or stopped. */
  async resume(): Promise<void> {
    this.isUnattended = false;
    await this.decisions.resume();
    for (const process of this.#unstarted) {
      if (!atWork.has(process.state)) continue;
      // It has no context of its own any more; the next request begins another one if it is needed.
      if (process.kind === "compaction" || process.kind === "cortex") await this.#drop(process);
      else this.#start(process, "");
    }
    this.#startPaused();
    const { talker } = this;
    if (talker === null || this.#running.has(talker.id)) return;
    const { what, turnsAlone } = await unreadOf(this.ports.reader, this.log.id, talker);
    if (what === "spoken") this.wake();
    if (what !== "found") return;
    this.#wakes.startAt(turnsAlone);
    this.#wakes.childEnded();
  }

  /** Writes a person's message and wakes the channel. Resolves with the entry's id once it is on the disk. */
  async send(sent: readonly NewPart[], id: string, origin = "person"): Promise<void> {
    const { channel, ports, log } = this;
    const maker: EntryMaker = { process: channel.id, turn: id, clock: ports.clock };
    const caller = this.principalOf(channel);
    using message = await writtenMessage(sent, origin, maker, { ports, log, caller });
    const { parts, entries, pictures } = message;
    using held = this.inputs.hold(origin);
    // A message that extensions may still change does not become the title.
    const title = log.state.title === "" && held === null ? titleOf(parts) : "";
    const meta = title === "" ? [] : [entryOf(maker, { kind: "meta", title }, { origin: "workspace" })];
    await log.append([...entries, ...meta], pictures);
    const durable = log.sync();
    this.#wakes.personSpoke();
    this.#startPaused();
    this.wake(id);
    held?.ask({ ...maker, id, parts: [...parts] }, durable);
    await durable;
  }

  /** Has the channel read what is new. `turn`: the entry that caused it, if one did. */
  wake(turn = ""): void {
    const { channel } = this;
    if (this.isStopping) return;
    if (this.#running.has(channel.id)) return this.#running.get(channel.id)?.process.letGo();
    if (!this.decisions.isPaused) this.#start(channel, turn);
    else if (this.isIdle) this.#parts.rested();
  }

  /** Stops a process and what it started, or all; resolves when that is written. */
  async cancel(by: Principal, id?: string): Promise<void> {
    const { processes } = this.log.state;
    if (id !== undefined && !processes.some((process) => process.id === id)) throw notFound("process", id);
    const waiting: OpenReference[] = [];
    let tree: ReadonlySet<string>;
    // Again for children that a process started before it noticed the stop. A channel may have begun again because of a message.
    for (let isFirst = true; ; isFirst = false) {
      tree = treeOf(this.log.state.processes, id);
      waiting.push(...this.log.state.references.filter(({ process }) => tree.has(process)));
      const running = [...this.#running.values()].filter(
        ({ process: { record } }) => tree.has(record.id) && (isFirst || record.kind !== "channel"),
      );
      const unstarted = this.#unstarted.filter((process) => tree.has(process.id));
      if (!isFirst && running.length + unstarted.length === 0) break;
      for (const { abort } of running) abort.abort(requestCancelled("It was stopped."));
      this.#wakes.stop();
      await Promise.all(running.map(({ done }) => done));
      for (const process of unstarted) await this.#drop(process);
    }
    // Only a channel proposes schedules.
    if (by.kind === "person" && processes.some(({ id: of, kind }) => kind === "channel" && tree.has(of)))
      await this.ports.schedules.withdraw(this.log.id);
    await this.decisions.stopped(by, waiting, id === undefined ? null : tree);
  }

  /** An action of a process has ended, which wakes the channel if it proposed it. */
  decided(process: string, isPersons: boolean): void {
    if (isPersons) {
      this.#wakes.personSpoke();
      this.#startPaused();
    }
    if (process !== this.channel.id || this.isStopping) return;
    if (isPersons) this.wake();
    // Events without a person wake the channel as the end of a child does: a limited number of times.
    else this.#wakes.childEnded();
  }

  /** Starts a child of a process. Its entries are in the log already. */
  startChild(record: Process, turn: string): MindProcess | null {
    // It may have been stopped before it was started.
    const isOver = this.log.state.processes.some(
      ({ id, state }) => id === record.id && endedStates.has(state),
    );
    return isOver ? null : this.#start(record, turn);
  }

  ended(id: string): Promise<void> {
    return this.#running.get(id)?.done ?? Promise.resolve();
  }

  untilEnded({ record, signal }: AtWork, child: string): Promise<Process | null> {
    return this.#places.lend(record.id, signal, () => untilEnded(this, child, signal));
  }

  principalOf(process: Pick<Process, "id" | "kind">): ProcessPrincipal {
    return principalOf(this.log, process);
  }

  mind(): Mind {
    return mindOf(this.ports, this.log.agent);
  }

  tailOf(process: Process): Promise<ContextTail> {
    return this.#contexts.of(process);
  }

  prefixFor(process: Pick<Process, "kind" | "name">): Promise<ContextPrefix> {
    return this.#contexts.prefixFor(process);
  }

  tellChanges(process: AtWork): Promise<void> {
    return this.#contexts.tellChanges(process);
  }

  suffixOf(process: Process): readonly SuffixPart[] {
    return suffixOf(this.log.state, process, this.ports.clock.now());
  }

  runOwnTool(process: AtWork, call: LoggedCall) {
    return this.#ownTools.run(process, call);
  }

  async makeRoom({ record, tail }: AtWork, filled: Filled): Promise<boolean> {
    if (tail === null || record.kind === "compaction") return false;
    return await this.#compactor.makeRoom(record, tail, filled);
  }

  /** Begins a compaction of the channel's context. IllegalTransition if one runs, or nothing can be summarised. */
  async compact(): Promise<void> {
    await this.#compactor.begin(this.channel, await this.tailOf(this.channel));
  }

  /** Has a model write a summary. Returns null if it failed or was stopped, which is in the log. */
  async runCompaction(record: Process, given: GivenContext): Promise<string | null> {
    const tools = processTools("compaction", this.mind().definition);
    this.#contexts.set(record.id, ContextTail.preview(this.log, record.id, prefixOf({ tools }), []));
    const process = this.#start(record, "", given);
    await this.ended(record.id);
    return process.record.state === "Done" ? process.conclusion : null;
  }

  workEnded(): void {
    if (this.isIdle) this.#parts.rested();
  }

  /** Ends the work without writing an end: the next kernel continues it. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.isStopping = true;
    this.inputs.stop();
    this.#wakes.stop();
    const running = [...this.#running.values()];
    for (const { abort } of running) abort.abort(requestCancelled("The kernel stops."));
    await Promise.all(running.map(({ done }) => done));
    this.#listening[Symbol.dispose]();
    this.#contexts.rest();
    this.#used[Symbol.dispose]();
  }

  #start(record: Process, turn: string, given?: GivenContext): MindProcess {
    const abort = new AbortController();
    // By the log it was at work when a kernel died, and nobody has continued it yet.
    const started = atWork.has(record.state) ? { ...record, state: "Waiting" as const } : record;
    const process = new MindProcess(this, started, turn, abort.signal, given);
    const done = this.#run(process);
    this.#running.set(record.id, { process, abort, done });
    done.finally(() => this.#ended(process)).catch(() => undefined);
    return process;
  }

  async #run(process: MindProcess): Promise<void> {
    // The caller registers it first.
    await Promise.resolve();
    const { limits, places } = this.#parts;
    try {
      const groups = groupsOf(process.record, this.mind().definition, this.log.id, limits());
      if (process.record.state !== "Waiting") process.enter("wake");
      if (!places.isFree(groups)) await process.waits();
      using _place = await this.#places.take(process.record.id, groups, process.signal);
      await process.move("start");
      if ((await process.work()) === "rests") await process.move("rest");
    } catch (error) {
      if (this.isStopping || error instanceof Unattended) return;
      await (
        error instanceof Paused
          ? process.move("rest")
          : process.signal.aborted
            ? process.cancelled()
            : process.fail(error)
      ).catch((failed: unknown) =>
        this.ports.log.error(`The end of a process could not be written: ${messageOf(failed)}`, {
          conversation: this.log.id,
        }),
      );
    }
  }

  /** Processes that have not ended and that nothing works for: an earlier kernel's, and those that are paused. */
  get #unstarted(): readonly Process[] {
    return this.log.state.processes.filter((process) => isOpen(process) && !this.#running.has(process.id));
  }

  #startPaused(): void {
    if (this.isStopping || this.decisions.isPaused) return;
    for (const process of this.#unstarted) if (!atWork.has(process.state)) this.#start(process, "");
  }

  #ended(process: MindProcess): void {
    const { record } = process;
    this.#running.delete(record.id);
    if (record.kind !== "channel") this.#contexts.drop(record.id);
    if (this.isStopping) return;
    const hasEnded = endedStates.has(record.state);
    if (hasEnded) this.decisions.processEnded(record.id);
    if (this.isUnattended) {
      if (this.isIdle) this.#parts.rested();
      return;
    }
    if (record.kind === "channel") {
      // Entries that arrived while the end of the turn was written.
      if (record.state === "WaitingForInput" && process.hasUnread("spoken")) this.wake();
      else if (record.state === "WaitingForInput" && process.hasUnread("any")) this.#wakes.childEnded();
      else if (process.isScheduled) {
        // Nobody looks at a conversation that a schedule began.
        const end = endOf(record, process.answer);
        if (end !== null) this.ports.notify({ agent: this.log.agent, title: this.log.state.title, ...end });
      }
    } else if (!hasEnded) {
      // The person may have spoken while it was written that it is paused.
      this.#startPaused();
    } else if (record.parent !== undefined && record.kind !== "compaction" && record.state !== "Cancelled") {
      if (record.state === "Failed") this.#notice(`A ${record.kind} failed: ${record.error?.message ?? ""}`);
      this.#wakes.childEnded();
    }
    if (this.isIdle) this.#parts.rested();
  }

  async tell(text: string): Promise<void> {
    const maker: EntryMaker = { process: this.channel.id, turn: "", clock: this.ports.clock };
    await this.log.append([entryOf(maker, { kind: "notice", text }, { origin: "workspace" })]);
  }

  #notice(text: string): void {
    this.tell(text).catch((error: unknown) =>
      this.ports.log.error(`A notice could not be written: ${messageOf(error)}`),
    );
  }

  async #drop(process: Process): Promise<void> {
    await this.log.append(() =>
      this.#running.has(process.id) ? [] : stopped(this.log.state, process, this.ports.clock),
    );
  }
}
