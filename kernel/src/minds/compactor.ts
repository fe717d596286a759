import { isoTime } from "../base/clock.ts";
import { illegalTransition, isLaresError, messageOf } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import { endedStates, type Entry, type Process } from "../base/vocabulary/conversation.ts";
import type { Refusal } from "../base/vocabulary/interception.ts";
import {
  type CompactionPlan,
  leaveOldestOut,
  planCompaction,
  planThrough,
} from "../context/compaction-plan.ts";
import { compactionMessages } from "../context/compaction-request.ts";
import type { Context } from "../context/context.ts";
import { taintOf } from "../context/taint.ts";
import { type Pressure, pressureOf } from "../context/tokens.ts";
import { isShown } from "../context/transcript.ts";
import type { ContextTail } from "./context-tail.ts";
import { entryOf, type EntryMaker, processEntry, taintedBy } from "./entries.ts";
import { BeginningTurns, type Compacted, finishCompaction, summarised } from "./compacted-context.ts";
import { failureOf } from "./conclusions.ts";
import { type ConversationHost, type Filled, type GivenContext, placeOf } from "./host.ts";
import { kinds } from "./kinds.ts";
import { stopError } from "./stop-tree.ts";

/** Entries of a compaction, which makes a few requests. */
export const maxOwnEntries = 1_000;

type Level = Exclude<Pressure, "none">;

/** What a compaction is made of. */
interface Attempt {
  readonly process: Process;
  readonly tail: ContextTail;
  /** Tokens of the model's window. */
  readonly limit: number;
  /** The number of stops when it was wanted: it does not begin after a later one. */
  readonly stops: number;
}

/** How a compaction ended. A stopped one does not mean that the next one would fail. */
type Outcome = "smaller" | "failed" | "stopped";

/**
 * After so many failures in a row, also over restarts, only a person's wish starts another compaction, until the oldest turns
 * were left out or the last failure is as old as this.
 */
const maxFailures = 3;
const restMs = 60 * 60_000;

/** Notices and summaries in which the last notice of a failure is looked for. */
const lookedAt = 50;
const notSummarised = "The conversation could not be summarised.";
const isAboutFailure = (entry: Entry): boolean =>
  entry.kind === "notice" && entry.text.startsWith(notSummarised);

/** Keeps the contexts of a conversation's processes within their models' windows: a program that watches a number. */
export class Compactor {
  readonly #conversation: ConversationHost;
  #stops = 0;
  /** Running compactions, by the process whose context they are about. */
  readonly #running = new Map<string, Promise<Outcome>>();
  readonly #turns = new BeginningTurns();

  constructor(conversation: ConversationHost) {
    this.#conversation = conversation;
  }

  /** Makes a context smaller if that is needed; false if it stays as it is. */
  makeRoom(process: Process, tail: ContextTail, filled: Filled): Promise<boolean> {
    const stops = this.#stops;
    return filled === "overflow"
      ? this.#overflow(process, tail, stops)
      : this.#check({ process, tail, limit: filled.limit, stops }, filled.context);
  }

  /**
   * Acts on the size of a process's context before its next request: begins a compaction in the background, waits for one,
   * or leaves the oldest turns out. Returns whether the context is smaller.
   */
  async #check(attempt: Attempt, { prefix, tokens }: Context): Promise<boolean> {
    const { tail, limit } = attempt;
    const { compaction } = this.#conversation.mind().definition;
    const level = pressureOf(tokens, limit, compaction);
    if (level !== "none" && (await finishCompaction(this.#compacted(attempt)))) return true;
    // The tokens were counted before the context began again, which made it smaller.
    if (prefix !== tail.prefix) return true;
    switch (level) {
      case "none":
        return false;
      case "background":
        if (this.#mayTry) void this.#compact(attempt, "background");
        return false;
      case "aggressive":
        return this.#mayTry && (await this.#compact(attempt, "aggressive")) === "smaller";
      case "emergency":
        return await this.#leaveOut(attempt);
    }
  }

  get #mayTry(): boolean {
    const { log, ports } = this.#conversation;
    const { count, last } = log.state.failedCompactions;
    return count < maxFailures || ports.clock.now() - Date.parse(last) >= restMs;
  }

  /** The model refused a request as too long. Nothing is left out because somebody stopped what would have summarised it. */
  async #overflow(process: Process, tail: ContextTail, stops: number): Promise<boolean> {
    const attempt: Attempt = { process, tail, limit: await this.#limitOf(process), stops };
    if (await finishCompaction(this.#compacted(attempt))) return true;
    const outcome = this.#mayTry ? await this.#compact(attempt, "aggressive") : "failed";
    return outcome === "failed" ? await this.#leaveOut(attempt) : outcome === "smaller";
  }

  /** Begins a compaction because a person wants it. IllegalTransition if one runs, or if there is nothing to summarise. */
  async begin(process: Process): Promise<void> {
    const stops = this.#stops;
    const tail = await this.#conversation.tailOf(process);
    const attempt: Attempt = { process, tail, limit: await this.#limitOf(process), stops };
    if (await finishCompaction(this.#compacted(attempt))) return;
    // No await may stand between this check and the start.
    if (this.#running.has(process.id))
      throw illegalTransition("Running", "A compaction of this conversation runs already.");
    const plan = this.#plan(attempt, "aggressive");
    if (plan === null) throw illegalTransition("WaitingForInput", "There is nothing to summarise yet.");
    void this.#run(attempt, plan);
  }

  /**
   * Continues a compaction that an earlier kernel began: it covers the same entries, and knows what its model has answered.
   * One whose process needs none any more is stopped.
   */
  resume(record: Process): void {
    const { log } = this.#conversation;
    const process = log.state.processes.find(({ id }) => id === record.parent);
    if (process === undefined) return;
    // If a person has begun another one meanwhile, that one leaves nothing for this one to summarise.
    const begun = this.#running.get(process.id) ?? Promise.resolve();
    void this.#track(
      process,
      begun.then(() => this.#resumed(record, process)),
    );
  }

  async #resumed(record: Process, process: Process): Promise<Outcome> {
    const conversation = this.#conversation;
    const isOver = process.kind !== "channel" && endedStates.has(process.state);
    const { covers } = record;
    const stops = this.#stops;
    // Earlier versions of Lares did not write what it covers: then a new one begins when it is needed.
    if (!isOver && covers !== undefined) {
      const [tail, limit] = await Promise.all([conversation.tailOf(process), this.#limitOf(process)]);
      const { prefix, entries } = tail;
      const input = { prefix, entries, level: "background", limit, cuts: cutsOf(process) } as const;
      const plan = planThrough(input, covers);
      if (plan !== null) return await this.#summarise({ process, tail, limit, stops }, plan, record);
    }
    await conversation.drop(record);
    return "stopped";
  }

  /** Cancels compactions that are not in the log yet, because the person stops what runs. */
  stop(): void {
    this.#stops++;
  }

  /** Resolves when no context begins again any more, so that texts can be removed. */
  close(): Promise<void> {
    return this.#turns.close();
  }

  /** True while a compaction runs. */
  get isBusy(): boolean {
    return this.#running.size > 0;
  }

  #compact(attempt: Attempt, level: Level): Promise<Outcome> {
    const running = this.#running.get(attempt.process.id);
    if (running !== undefined) return running;
    const plan = this.#plan(attempt, level);
    return plan === null ? Promise.resolve("failed") : this.#run(attempt, plan);
  }

  #compacted({ process, tail, limit }: Attempt): Compacted {
    return { conversation: this.#conversation, process, tail, limit, turns: this.#turns };
  }

  #plan({ process, tail, limit }: Attempt, level: Level): CompactionPlan | null {
    const { prefix } = tail;
    // An entry that the model does not read, such as a pin, does not end the last turn.
    const last = tail.entries.findLastIndex(isShown);
    const entries = tail.entries.slice(0, last + 1);
    return planCompaction({ prefix, entries, level, limit, cuts: cutsOf(process) });
  }

  #run(attempt: Attempt, plan: CompactionPlan): Promise<Outcome> {
    return this.#track(attempt.process, this.#summarise(attempt, plan));
  }

  #track(process: Process, compaction: Promise<Outcome>): Promise<Outcome> {
    const running = compaction.catch(async (error: unknown): Promise<Outcome> => {
      await this.#failed(process, messageOf(error));
      if (!isLaresError(error))
        this.#conversation.ports.log.error(`A compaction failed: ${messageOf(error)}`);
      return "failed";
    });
    this.#running.set(process.id, running);
    void running.finally(() => {
      if (this.#running.get(process.id) === running) this.#running.delete(process.id);
      this.#conversation.workEnded();
    });
    return running;
  }

  async #summarise(attempt: Attempt, plan: CompactionPlan, begun: Process | null = null): Promise<Outcome> {
    const conversation = this.#conversation;
    const { process, stops } = attempt;
    if (begun === null && this.#stops !== stops) return "stopped";
    const record = begun ?? recordOf(process, plan, conversation.ports.clock.now());
    let given: GivenContext | null = null;
    try {
      given = await this.#given(process, plan, record);
    } catch (error) {
      await this.#notBegun(record, { state: "Failed", error: failureOf(error) });
      throw error;
    }
    if (given === null) return "failed";
    if (begun === null) {
      const entry = processEntry(this.#maker(record.id), record);
      const written = await conversation.log.append(() => (this.#stops === stops ? [entry] : []));
      if (written.length === 0) return "stopped";
    }
    const text = await conversation.runCompaction(record, given);
    if (text === null) {
      const ended = conversation.log.state.processes.find(({ id }) => id === record.id);
      // One that was stopped needs no explanation.
      if (ended?.state !== "Failed") return "stopped";
      await this.#failed(process, ended.error?.message ?? "");
      return "failed";
    }
    const summary = { text, covers: plan.covers, ...taintOf(given.madeOf) };
    await summarised(this.#compacted(attempt), plan, summary, "model");
    return "smaller";
  }

  /** Returns the request for a summary; null if an extension does not let it be made. */
  async #given(process: Process, plan: CompactionPlan, record: Process): Promise<GivenContext | null> {
    const { ports, log } = this.#conversation;
    const choice = await ports.models.choose(log.header.agent, kinds.compaction.use(record, ""));
    if ("failure" in choice) throw new Error(choice.failure.message);
    const asked = ports.intercept.beforeCompact(placeOf(log, { record: process }), plan.covers);
    const intercepted = asked === null ? { instructions: [] } : await asked;
    if (!("instructions" in intercepted)) {
      await this.#refused(process, record, intercepted);
      return null;
    }
    const { instructions } = intercepted;
    const messages = compactionMessages({
      plan,
      prompt: this.#conversation.mind().definition.prompts.compaction,
      instructions: instructions.map(({ by, value, isTainted }) => ({ by, text: value, isTainted })),
      limit: choice.contextTokens,
    });
    const madeOf = [...plan.merged, ...plan.covered, ...instructions.map(taintedBy)];
    return { messages, covered: plan.covered, madeOf };
  }

  /** Tells the person about the first of several failures in a row, also over restarts. */
  async #failed({ id }: Process, why: string): Promise<void> {
    const { log, ports } = this.#conversation;
    if (log.isBroken) return;
    const kinds = ["notice", "summary"] as const;
    const last = await ports.reader.entries(log.id, { kinds: [...kinds], limit: lookedAt, newest: true });
    const told = last.findLast((entry) => entry.kind === "summary" || isAboutFailure(entry));
    if (told?.kind === "notice") return;
    const text = `${notSummarised} ${why} If that continues, the oldest turns are left out of what the model reads.`;
    await log
      .append([entryOf(this.#maker(id), { kind: "notice", text }, { origin: "workspace" })])
      .catch((error: unknown) => ports.log.error(`A notice could not be written: ${messageOf(error)}`));
  }

  /** An extension did not let it begin. Counts as a failure, so that it is not asked about again and again. */
  async #refused({ id }: Process, record: Process, refusal: Refusal): Promise<void> {
    const text = `The conversation was not summarised. ${refusal.value}`;
    await this.#notBegun(record, { state: "Cancelled", ...stopError(refusal.value) });
    await this.#conversation.log.append([entryOf(this.#maker(id), { kind: "notice", text }, refusal)]);
  }

  /** Writes the end of a compaction whose model was not asked: the log counts failures, also for the next kernel. */
  async #notBegun(record: Process, end: Pick<Process, "state" | "error">): Promise<void> {
    const { log, ports } = this.#conversation;
    if (log.isBroken) return;
    // One that an earlier kernel began may have open calls.
    if (log.state.processes.some(({ id }) => id === record.id)) return await this.#conversation.drop(record);
    const value: Process = { ...record, ...end, ended: isoTime(ports.clock.now()) };
    await log.append([processEntry(this.#maker(record.id), value)]);
  }

  async #leaveOut(attempt: Attempt): Promise<boolean> {
    const { process, tail, limit } = attempt;
    const { prefix, entries } = tail;
    const left = leaveOldestOut({ prefix, entries, limit, cuts: cutsOf(process) });
    if (left === null) return false;
    await summarised(this.#compacted(attempt), left.plan, left.summary, "workspace");
    return true;
  }

  async #limitOf(process: Process): Promise<number> {
    const { log, ports } = this.#conversation;
    const use = kinds[process.kind].use(process, log.state.model);
    const choice = await ports.models.choose(log.header.agent, use);
    return "failure" in choice ? Infinity : choice.contextTokens;
  }

  #maker(process: string): EntryMaker {
    return { process, turn: "", clock: this.#conversation.ports.clock };
  }
}

function recordOf({ id }: Process, { covers: [from, to] }: CompactionPlan, nowMs: number): Process {
  return {
    id: newId(),
    kind: "compaction",
    state: "Waiting",
    parent: id,
    task: `Summarise the entries ${from} to ${to}`,
    covers: [from, to],
    started: isoTime(nowMs),
  };
}

/** Branches and workers have one turn, whose task is carried over. */
function cutsOf({ kind }: Process): "turns" | "requests" {
  return kind === "channel" ? "turns" : "requests";
}
