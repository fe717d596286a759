import { neverAborted } from "../base/abort.ts";
import { messageOf } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";
import { type Action, hasEnded } from "../base/vocabulary/action.ts";
import type { Ask, Asking } from "../base/vocabulary/ask.ts";
import { endedStates, type Entry, noteOrigin, type Process } from "../base/vocabulary/conversation.ts";
import { ownAccord, type Principal } from "../base/vocabulary/principal.ts";
import type { ToolResult } from "../base/vocabulary/tool-result.ts";
import { type OpenReference, rejected } from "../conversations/fold.ts";
import type { NewEntry } from "../conversations/records.ts";
import { ActionWaits } from "./action-waits.ts";
import { BlockDecisions } from "./block-decisions.ts";
import { DecidedChanges } from "./decided-changes.ts";
import { entryOf, type EntryMaker, processEntry } from "./entries.ts";
import type { AtWork, DoubtfulEdit } from "./host.ts";
import { decisionOrigin, questionIn, toldDecision } from "./let-go.ts";
import { MadeChanges } from "./made-changes.ts";
import type { MindPorts, ProcessLog } from "./ports.ts";

interface DecisionsHost {
  readonly ports: MindPorts;
  readonly log: ProcessLog;
  /** The process that talks to the person; null in a mind's own log. */
  readonly talker: Process | null;
  /** True once the kernel stops: what waits is asked about again by the next one. */
  readonly isStopping: boolean;
  /** An action of a process has ended. `isPersons`: because the person decided about it. */
  decided(process: string, isPersons: boolean): void;
}

/** Rejections in a row after which the processes of a conversation stop. */
const maxRejections = 3;
/** Entries of actions in which an earlier one is looked for. */
const lookedAt = 1_000;
const proposerStopped = "What had proposed it was stopped.";
const paused =
  "You said no three times in a row, so the work in this conversation is paused. Send a message to continue.";

/**
 * The actions and questions of one conversation that wait for a person. Each is in the log when it is asked and when it
 * has ended; after a kernel's death they are found there.
 */
export class Decisions {
  /** What the person has decided about changes, also about those of processes that have ended. */
  readonly changes: DecidedChanges;
  readonly #host: DecisionsHost;
  readonly #waits: ActionWaits;
  readonly #blocks: BlockDecisions;
  readonly #made: MadeChanges;
  /** Actions that end because what had proposed them was stopped. */
  readonly #stopped = new Set<string>();
  /** Questions whose answers the channel does not wait for, and whether it was told. */
  readonly #letGo = new Map<string, "open" | "told">();
  /** Questions by the process that asked them, or that an earlier kernel asked them for. */
  readonly #asked = new Map<string, Set<string>>();
  /** Those of them whose end was written before their call, which continues after a restart, asked again. */
  readonly #ended = new Set<string>();

  constructor(host: DecisionsHost) {
    this.#host = host;
    this.changes = new DecidedChanges(host);
    this.#blocks = new BlockDecisions(host);
    this.#made = new MadeChanges(host);
    this.#waits = new ActionWaits((id) => host.ports.actions.get(id));
  }

  /** True after so many rejections in a row that the person has to speak first. */
  get isPaused(): boolean {
    return this.#host.log.state.rejections >= maxRejections;
  }

  /** Writes down what was decided while no kernel ran. */
  async resume(): Promise<void> {
    const { log, ports } = this.#host;
    await this.#findLetGo();
    for (const { kind, ref, process } of log.state.references)
      if (kind === "action") {
        await this.#resumeAction(ref, process);
      } else {
        const ask = await ports.asks.get(ref);
        // Nothing waits for the answer about a block but the conversation.
        if (ask?.state === "Pending") {
          if (ask.kind !== "block") this.#noteAsked(process, ref);
        }
        // Questions that ended long ago are deleted.
        else if (ask !== null) await this.askChanged(ask);
        else await this.#append(() => this.#endOf("ask", ref, "Expired"));
      }
  }

  /** A kernel may have died before it wrote how an action ended, or before it rejected what a stopped process had proposed. */
  async #resumeAction(ref: string, process: string): Promise<void> {
    const { log, ports, talker } = this.#host;
    const record = log.state.processes.find(({ id }) => id === process);
    const isOver = process !== talker?.id && (record === undefined || endedStates.has(record.state));
    const known = await ports.actions.get(ref);
    // A rebased action belongs to the person, so it outlives the process that first proposed it.
    if (isOver && known?.state === "PendingApproval" && known.rebased_by === undefined)
      await ports.actions.reject({ kind: "kernel", lineage: ownAccord }, ref, proposerStopped);
    const action = await ports.actions.get(ref);
    if (action === null) await this.#append(() => this.#endOf("action", ref, "Expired"));
    else await this.actionChanged(action);
  }

  /** Returns the entry of an action that a process proposed; none if it is in the log already. */
  async entriesOf({ maker, record }: AtWork, { id, state }: Action): Promise<NewEntry[]> {
    const { log, ports } = this.#host;
    if (log.state.references.some(({ ref, process }) => ref === id && process === record.id)) return [];
    const now = await ports.actions.get(id);
    // A kernel may have died between the entry of its end and the result of the call.
    if (now !== null && hasEnded(now.state)) {
      const known = await ports.reader.entries(log.id, { kinds: ["action"], limit: lookedAt, newest: true });
      const isHere = (entry: Entry): boolean =>
        entry.kind === "action" && entry.ref === id && entry.origin !== noteOrigin;
      if (known.some(isHere)) return [];
    }
    return [entryOf(maker, { kind: "action", ref: id, state }, { origin: "workspace" })];
  }

  /**
   * A call has a result that may name an action which nobody was asked about. A kernel may have died after it was made and
   * before it was in the log; the call is then made again, and its result names the same action.
   */
  async called(result: ToolResult): Promise<void> {
    const id = result.status === "success" && isJsonObject(result.value) ? result.value["action"] : null;
    const action = typeof id === "string" ? await this.#host.ports.actions.get(id) : null;
    if (action !== null) await this.#made.record(action);
  }

  /** Returns what became of an action, as the result of the call that proposed it, once that was decided. */
  async result(id: string, signal: AbortSignal): Promise<ToolResult> {
    await this.check(id);
    return await this.#waits.result(id, signal);
  }

  /** Writes the end of an action that may have ended before its entry was in the log. */
  async check(id: string): Promise<void> {
    const action = await this.#host.ports.actions.get(id);
    if (action !== null) await this.actionChanged(action);
  }

  /** An action was decided about: what waits for it continues. */
  async actionChanged(action: Action): Promise<void> {
    const { id, state } = action;
    if (!hasEnded(state)) return await this.#made.record(action);
    this.changes.take(action);
    if (this.#stopped.has(id)) return this.#waits.decided(action);
    const reference = this.#host.log.state.references.find(
      ({ kind, ref }) => kind === "action" && ref === id,
    );
    if (reference === undefined) {
      this.#waits.decided(action);
      return await this.#made.record(action);
    }
    const isPersons = isDecidedByPerson(action);
    await this.#append(() => this.#endOf("action", id, state, isPersons));
    this.#waits.decided(action);
    this.#host.decided(reference.process, isPersons);
  }

  /** A question has ended for which no call waits here. */
  async askChanged(ask: Ask): Promise<void> {
    const { id, state, kind } = ask;
    const { log } = this.#host;
    if (state === "Pending" || !log.state.references.some(({ ref }) => ref === id)) return;
    const told =
      kind === "block" && state === "Allowed" ? await this.#blocks.accepted(ask, this.#talker) : [];
    let isTold = false;
    await this.#append(() => {
      const end = this.#endOf("ask", id, state);
      if (end.length === 0) return [];
      this.#ended.add(id);
      const decision = this.#tellingOf(ask);
      isTold = decision.length > 0;
      return [...end, ...told, ...decision];
    });
    if (isTold) this.#tell(ask);
  }

  /** The channel continues without the answer to a question; it is told when the person has decided. */
  async letGo(question: string): Promise<void> {
    const { log, ports, talker } = this.#host;
    this.#letGo.set(question, "open");
    const ask = await ports.asks.get(question);
    if (ask === null || ask.state === "Pending") return;
    await this.askChanged(ask);
    // Its end was in the log before the call's result was.
    if (talker === null || log.state.references.some(({ ref }) => ref === question)) return;
    const decision = this.#tellingOf(ask);
    if (decision.length === 0) return;
    await this.#append(() => decision);
    this.#tell(ask);
  }

  /** Finds the questions that the channel did not wait for when an earlier kernel ran. */
  async #findLetGo(): Promise<void> {
    const { log, ports, talker } = this.#host;
    const asked = log.state.references.filter(
      ({ kind, process }) => kind === "ask" && process === talker?.id,
    );
    if (talker === null || asked.length === 0) return;
    const results = await ports.reader.entries(log.id, {
      audience: talker.id,
      kinds: ["tool_result"],
      limit: lookedAt,
      newest: true,
    });
    const found = new Set(results.map(questionIn));
    for (const { ref } of asked) if (found.has(ref) && !this.#letGo.has(ref)) this.#letGo.set(ref, "open");
  }

  /** Returns the message for the channel about a question that it did not wait for; none if it was told. */
  #tellingOf(ask: Ask): NewEntry[] {
    const { talker, ports } = this.#host;
    if (talker === null || this.#letGo.get(ask.id) !== "open") return [];
    this.#letGo.set(ask.id, "told");
    const text = toldDecision(ask);
    return [
      entryOf(
        { process: talker.id, turn: "", clock: ports.clock },
        { kind: "message", role: "user", parts: [{ type: "text", text }] },
        { origin: decisionOrigin },
      ),
    ];
  }

  #tell({ state }: Ask): void {
    const { talker } = this.#host;
    if (talker !== null) this.#host.decided(talker.id, state === "Allowed" || state === "Denied");
  }

  /**
   * Asks whether the mind may keep an edit that holds in this conversation. Returns entries for the log, and what has to be
   * called when they are in it.
   */
  async askAboutBlock(
    process: AtWork,
    call: string,
    edit: DoubtfulEdit,
  ): Promise<{ readonly entries: readonly NewEntry[]; readonly after: () => Promise<void> }> {
    const ask = await this.#blocks.ask(process, call, edit);
    if (ask === null) return { entries: [], after: async () => undefined };
    // A question ends with the process that asked it, but this one waits for the person.
    const maker = this.#host.talker === null ? { ...process.maker, process: this.#talker } : process.maker;
    return {
      entries: this.#beginOf(maker, { ...ask, state: "Pending" }),
      // It may have been answered before its entry was in the log.
      after: async () => {
        const now = await this.#host.ports.asks.get(ask.id);
        if (now !== null) await this.askChanged(now);
      },
    };
  }

  /** Returns how a process asks the person. `key`: names in its conversation what asks. */
  asking(process: AtWork, key: string, isLetGo = (): boolean => false): Asking {
    return {
      key: `${this.#host.log.id} ${key}`,
      isPausing: () => this.#host.isStopping || isLetGo(),
      changed: (ask) => this.#processAsked(process, ask),
    };
  }

  /** Ends the questions of a process that has ended and that it did not ask again. */
  processEnded(id: string): void {
    for (const ask of this.#asked.get(id) ?? []) {
      this.#letGo.delete(ask);
      this.#ended.delete(ask);
      this.#host.ports.asks.withdraw(ask);
    }
    this.#asked.delete(id);
  }

  /**
   * Rejects what waited for a person in processes that were stopped, and writes that down. `processes`: null for all of
   * the conversation.
   */
  async stopped(
    by: Principal,
    waiting: readonly OpenReference[],
    processes: ReadonlySet<string> | null,
  ): Promise<void> {
    const { ports, log } = this.#host;
    // A call that was stopped may have proposed something without anything waiting for it any more.
    const proposed = await ports.actions.waitingOf(log.id, processes);
    const owned = waiting.flatMap(({ kind, ref }) => (kind === "action" ? [ref] : []));
    for (const ref of new Set([...owned, ...proposed])) {
      this.#stopped.add(ref);
      await ports.actions.reject(by, ref, proposerStopped);
      let action = await ports.actions.get(ref);
      // The person approved it just before, so the log gets the end of that commit.
      if (action !== null && isBeingCommitted(action)) {
        await this.#waits.result(ref, neverAborted);
        action = await ports.actions.get(ref);
      }
      if (action === null || !hasEnded(action.state)) continue;
      const { state } = action;
      const isPersons = state === "Committed" && isDecidedByPerson(action);
      await this.#append(() => this.#endOf("action", ref, state, isPersons));
    }
    for (const { ref } of waiting) this.#letGo.delete(ref);
    for (const { kind, ref } of waiting) if (kind === "ask") ports.asks.withdraw(ref);
  }

  /** Who speaks to the person: the channel, or in a mind's own log the mind. */
  get #talker(): string {
    return this.#host.talker?.id ?? this.#host.log.id;
  }

  #processAsked(process: AtWork, ask: Ask): void {
    const { maker, record, signal } = process;
    const isOpen = ask.state === "Pending";
    if (isOpen) this.#noteAsked(record.id, ask.id);
    // One that was stopped has another end.
    const moves = !signal.aborted && record.state === (isOpen ? "Running" : "WaitingForApproval");
    if (moves) process.enter(isOpen ? "ask" : "decided");
    const moved = moves ? [processEntry(maker, process.record)] : [];
    this.#append(() => [
      ...(isOpen ? this.#beginOf(maker, ask) : this.#endOf("ask", ask.id, ask.state)),
      ...moved,
    ]).catch((error: unknown) =>
      this.#host.ports.log.error(`A question could not be written to a conversation: ${messageOf(error)}`),
    );
  }

  #noteAsked(process: string, ask: string): void {
    this.#asked.set(process, (this.#asked.get(process) ?? new Set()).add(ask));
  }

  #beginOf(maker: EntryMaker, { id, state }: Ask): NewEntry[] {
    const { references } = this.#host.log.state;
    // The next kernel's call asks the same question, which may have been answered just before.
    if (this.#ended.has(id) || references.some(({ ref, process }) => ref === id && process === maker.process))
      return [];
    return [entryOf(maker, { kind: "ask", ref: id, state }, { origin: "workspace" })];
  }

  /** Returns the entries of an end; none if it is in the log already. Called when everything before is in the log. */
  #endOf(
    kind: OpenReference["kind"],
    id: string,
    state: string,
    isPersons = state === "Allowed" || state === "Denied",
  ): NewEntry[] {
    const { log, talker, ports } = this.#host;
    const reference = log.state.references.find((open) => open.kind === kind && open.ref === id);
    if (reference === undefined) return [];
    const entry = this.#entryOf(reference.process, kind, id, state, isPersons);
    const isLast = isPersons && rejected.has(state) && log.state.rejections === maxRejections - 1;
    if (!isLast || talker === null) return [entry];
    const maker = { process: talker.id, turn: "", clock: ports.clock };
    return [entry, entryOf(maker, { kind: "notice", text: paused }, { origin: "workspace" })];
  }

  #entryOf(
    process: string,
    kind: OpenReference["kind"],
    ref: string,
    state: string,
    isPersons: boolean,
  ): NewEntry {
    const maker: EntryMaker = { process, turn: "", clock: this.#host.ports.clock };
    return entryOf(maker, { kind, ref, state }, { origin: isPersons ? "person" : "workspace" });
  }

  async #append(entries: () => readonly NewEntry[]): Promise<void> {
    await this.#host.log.append(entries);
  }
}

function isBeingCommitted({ state }: Action): boolean {
  return state === "Approved" || state === "Committing";
}

function isDecidedByPerson({ state, decided_by: by }: Action): boolean {
  return by === "user" && (state === "Committed" || state === "Rejected");
}
