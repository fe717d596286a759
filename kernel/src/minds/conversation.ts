import { messageOf, requestCancelled } from "../base/errors.ts";
import { Emitter } from "../base/emitter.ts";
import { endedStates, type Process, waitsForFollowUp } from "../base/vocabulary/conversation.ts";
import type { Principal, ProcessPrincipal } from "../base/vocabulary/principal.ts";
import type { SuffixPart } from "../context/context.ts";
import { prefixOf, type ContextPrefix } from "../context/prefix.ts";
import type { ConversationLog } from "../conversations/conversation-log.ts";
import type { OpenLog } from "../conversations/open-logs.ts";
import type { LoggedCall } from "./answer-writer.ts";
import { writtenMessage } from "./attachments.ts";
import { Compactor, maxOwnEntries } from "./compactor.ts";
import { Contexts } from "./contexts.ts";
import { ContextTail } from "./context-tail.ts";
import { stopped } from "./ends.ts";
import { entryOf, type EntryMaker } from "./entries.ts";
import { processTools } from "./process-tools.ts";
import type { NewPart } from "./sent-parts.ts";
import { OwnTools } from "./own-tools.ts";
import type { Sender } from "./origins.ts";
import { HeldPlaces } from "./held-places.ts";
import { FollowUps } from "./follow-ups.ts";
import { groupsOf } from "./places.ts";
import { Wakes } from "./wakes.ts";
import type { Mind, MindPorts } from "./ports.ts";
import { Paused, Unattended } from "./interruptions.ts";
import { MindProcess } from "./process.ts";
import { HeldInputs } from "./held-inputs.ts";
import { notifyEnd } from "./scheduled.ts";
import { stopTree } from "./stop-tree.ts";
import { atWork, exhausted, isOpen, unreadOf } from "./turns.ts";
import {
  type AtWork,
  type ConversationHost,
  type ConversationParts,
  type Filled,
  type GivenContext,
  mindOf,
  principalOf,
} from "./host.ts";
import { Decisions } from "./decisions.ts";
import { titleOf } from "./beginning.ts";
import { suffixOf } from "./status.ts";
import { untilEnded } from "./until-ended.ts";

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
  readonly followUps: FollowUps;
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
      // It may have read what was found while it answered something else.
      wake: () => (this.#contexts.hasUnread(this.channel) ? this.wake() : this.workEnded()),
      exhausted: () => {
        this.#notice(exhausted);
        this.workEnded();
      },
    });
    this.#contexts = new Contexts(this, parts.resting);
    this.#compactor = new Compactor(this);
    this.decisions = new Decisions(this);
    this.followUps = new FollowUps({
      ports: this.ports,
      log: this.log,
      talker: this.talker,
      limits: () => parts.limits(),
      isRunning: (id) => this.#running.has(id),
      begin: (worker) => this.startChild(worker, ""),
    });
    this.#listening = this.log.appended.on((entries) => {
      this.#contexts.take(entries);
      if (!this.isStopping && !this.isUnattended) this.followUps.take(entries);
    });
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
      if (process.kind === "compaction") this.#compactor.resume(process);
      // A mind's next run reads the same.
      else if (process.kind === "cortex") await this.drop(process);
      else this.#start(process, "");
    }
    this.#startPaused();
    await this.followUps.resume();
    const { talker } = this;
    if (talker === null || this.#running.has(talker.id)) return;
    const { what, turnsAlone } = await unreadOf(this.ports.reader, this.log.id, talker);
    if (what === "spoken") this.wake();
    if (what !== "found") return;
    this.#wakes.startAt(turnsAlone);
    this.#wakes.childEnded();
  }

  /** Writes a person's message and wakes the channel. Resolves with the entry's id once it is on the disk. */
  async send(sent: readonly NewPart[], id: string, by: Sender = { origin: "person" }): Promise<void> {
    const { channel, ports, log } = this;
    const maker: EntryMaker = { process: channel.id, turn: id, clock: ports.clock };
    using message = await writtenMessage(sent, by, maker, { ports, log, caller: this.principalOf(channel) });
    const { parts, entries, pictures } = message;
    using held = this.inputs.hold(by.origin);
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
    const running = this.#running.get(channel.id);
    // While its end is written it reads nothing more: what came then begins the next turn.
    if (running !== undefined && endedStates.has(running.process.record.state))
      return void running.done.then(() => this.wake(turn));
    if (running !== undefined) return running.process.letGo();
    if (!this.decisions.isPaused) this.#start(channel, turn);
    else if (this.isIdle) this.#parts.rested();
  }

  /** Stops a process and what it started, or all; resolves when that is written. */
  cancel(by: Principal, id?: string, reason?: string): Promise<void> {
    const host = {
      ports: this.ports,
      log: this.log,
      decisions: this.decisions,
      running: () => this.#running.values(),
      unstarted: () => this.#unstarted,
      beginners: [this.#wakes, this.#compactor],
      drop: (process: Process) => this.drop(process, reason),
    };
    return stopTree(host, { by, id, reason });
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
    // It may have been stopped before it was started. If everything stops, whoever continues it starts it.
    const isOver = this.log.state.processes.some(
      ({ id, state }) => id === record.id && endedStates.has(state),
    );
    if (isOver || this.isStopping) return null;
    this.followUps.makeRoom();
    return this.#start(record, turn);
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
    return suffixOf(this.log.state, process, this.ports.clock.now(), this.decisions.changes.known);
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
    await this.#compactor.begin(this.channel);
  }

  /** Has a model write a summary. Returns null if it failed or was stopped, which is in the log. */
  async runCompaction(record: Process, given: GivenContext): Promise<string | null> {
    const { log } = this;
    const tools = processTools("compaction", this.mind().definition);
    // Entries that it wrote under an earlier kernel.
    const own = await this.ports.reader.entries(log.id, { audience: record.id, limit: maxOwnEntries });
    const isOver = log.state.processes.some(({ id, state }) => id === record.id && endedStates.has(state));
    if (isOver || this.isStopping) return null;
    this.#contexts.set(record.id, ContextTail.preview(log, record.id, prefixOf({ tools }), own));
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
    await Promise.all([...running.map(({ done }) => done), this.#compactor.close()]);
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
      // First, because a process that has failed can fail again only from here: without its mind, for one.
      if (process.record.state !== "Waiting") process.enter("wake");
      const groups = groupsOf(process.record, this.mind().definition, this.log.id, limits());
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
    for (const process of this.#unstarted)
      if (!atWork.has(process.state) && !waitsForFollowUp(process)) this.#start(process, "");
  }

  #ended(process: MindProcess): void {
    const { record } = process;
    this.#running.delete(record.id);
    if (record.kind !== "channel") this.#contexts.drop(record.id);
    if (this.isStopping) return;
    const hasEnded = endedStates.has(record.state);
    if (hasEnded) this.decisions.processEnded(record.id);
    if (this.isUnattended) return this.workEnded();
    if (record.kind === "channel") {
      // Entries that arrived while the end of the turn was written.
      if (record.state === "WaitingForInput" && process.hasUnread("spoken")) this.wake();
      else if (record.state === "WaitingForInput" && process.hasUnread("any")) this.#wakes.childEnded();
      else if (this.log.state.isScheduled) notifyEnd(this, record, process.answer);
    } else if (waitsForFollowUp(record)) {
      this.#wakes.childEnded();
      this.followUps.reported(process);
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

  async drop(process: Process, reason?: string): Promise<void> {
    await this.log.append(() =>
      this.#running.has(process.id) ? [] : stopped(this.log.state, process, this.ports.clock, reason),
    );
  }
}
