import { isoTime, type Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import type { NotifiedSchedule } from "../../base/vocabulary/notification.ts";
import { Slices } from "../../base/slices.ts";
import { mostWaiting, runsToFire } from "./catch-up.ts";
import type { AgentDefinition, HookDefinition, ScheduleSuspension, ScheduleTiming } from "../ports.ts";
import { deliveriesFor, type RoutedDelivery, type RouterOptions } from "./router.ts";
import { keyOf, keyOfHook } from "./schedule-keys.ts";
import type { WriteTrace } from "../trace-writer.ts";

/**
 * A schedule's tick is one ScheduleFired event, for the schedule's own handler and the agent's hooks on
 * ScheduleFired. The time up to which each schedule has fired is stored in the same transaction as the deliveries,
 * so that a crash neither loses nor repeats a tick.
 *
 * - A schedule is identified by agent, handler, expression and time zone. A new one starts now. A schedule that its
 * agent no longer has, or whose agent is disabled, is forgotten, and starts again when it returns.
 * - An absent agent (the kernel does not run, or the agent is not accepted) keeps its progress and catches up by its
 * rule when it returns; see `runsToFire`. The same applies after the machine slept.
 * - Three failed runs in a row suspend the schedule, and not its agent, until a person resumes it. It counts from then on:
 * what was due meanwhile is not made up for.
 * - If the clock is set back, nothing repeats: no run is due until the clock passes the last fired run. If that would
 * take more than `maxSetBackMs`, the earlier clock was wrong, and the schedule starts now.
 */
export interface KeptSchedule {
  readonly agent: string;
  readonly handler: string;
  readonly expression: string;
  /** IANA name. */
  readonly timezone: string;
  /** The latest run that was handled, fired or skipped; milliseconds since 1970. */
  readonly firedThrough: number;
  /** Number of runs in a row that failed. */
  readonly failures: number;
  readonly suspended: ScheduleSuspension | null;
}

/** Maximum timer delay, in case the machine sleeps or the clock is set. */
export const maxAheadMs = 30_000;
/** If the clock is further behind the last fired run than this, the earlier clock was wrong. */
export const maxSetBackMs = 24 * 60 * 60 * 1000;
/** Maximum time for which computing next runs may block the event loop. */
const sliceMs = 8;
/** Retry delay after a failed write. */
export const scheduleRetryMs = 5_000;
/**
 * Maximum number of skipped runs that are counted; beyond it, the report says "more". Each run has to be computed,
 * for all schedules at once after a long absence.
 */
const countedRuns = 100;

/** Failed runs in a row that suspend a schedule. */
const failuresToSuspend = 3;
/** Characters of an error that are kept. */
const errorCharacters = 1_000;

/** Statements for the durable progress; implemented by `agent-state/`. */
export interface ScheduleStatements<Statement> {
  kept(schedule: KeptSchedule): Statement;
  forgotten(schedule: KeptSchedule): Statement;
}

export interface ScheduledAgent {
  readonly definition: AgentDefinition;
  /** True if the agent is enabled. */
  readonly isListening: boolean;
  readonly trace: WriteTrace;
  /** Reports the agent to clients, because something that they show has changed. */
  announce(): void;
}

interface SchedulesPorts<Statement> {
  readonly clock: Clock;
  readonly routing: RouterOptions;
  readonly statements: ScheduleStatements<Statement>;
  readonly alreadyFired: readonly KeptSchedule[];
  /** The present agents, by id. */
  readonly agents: ReadonlyMap<string, ScheduledAgent>;
  /** Returns how many deliveries from this source the agent has not handled. */
  waiting(agent: string, source: string): Promise<number>;
  /** Stores deliveries and the schedules' progress in one transaction. */
  store(deliveries: readonly RoutedDelivery[], more: readonly Statement[]): Promise<void>;
  /** Tells the person that a schedule is suspended, or with null that it runs again. Never rejects. */
  tell(agent: string, schedule: NotifiedSchedule, error: string | null): Promise<void>;
}

/** A schedule as the manifest has it now. */
interface Wanted {
  readonly handler: string;
  readonly expression: string;
  readonly timing: ScheduleTiming;
}

interface Known {
  kept: KeptSchedule;
  /** The first run after the last fired one; computed once, and absent if that failed. */
  next: number | null | undefined;
  /** Skipped runs that were not reported yet. */
  leftOut: number;
  /** The part of the jitter by which its runs are delayed, from 0 to 1. */
  readonly lateness: number;
}

interface Running extends Wanted {
  readonly agent: ScheduledAgent;
  readonly key: string;
  readonly known: Known;
  /** When it fires next, with its delay. */
  readonly next: number;
}

/** Fires the agents' schedules. Uses one timer for all of them, and none if there is no schedule. */
export class Schedules<Statement> implements AsyncDisposable {
  readonly #ports: SchedulesPorts<Statement>;
  readonly #slices: Slices;
  /** By agent, then by key. */
  readonly #known = new Map<string, Map<string, Known>>();
  #timer: Disposable | null = null;
  #turn: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(ports: SchedulesPorts<Statement>) {
    this.#ports = ports;
    this.#slices = new Slices(ports.clock, sliceMs);
    for (const kept of ports.alreadyFired) this.#of(kept.agent).set(keyOf(kept), knownAs(kept));
  }

  /** Updates the schedules after the agents may have changed. Resolves when their schedules run. Never rejects. */
  follow(): Promise<void> {
    this.#turn = this.#turn.then(() => this.#look());
    return this.#turn;
  }

  /** Counts a run that has ended; `error` is null if it succeeded. */
  ended(id: string, key: string, error: string | null): void {
    const isNews = error !== null || this.#known.get(id)?.get(key)?.kept.failures !== 0;
    if (isNews) this.#turn = this.#turn.then(() => this.#count(id, key, error));
  }

  /** Resumes a suspended schedule, which counts from now. Returns false if it is not suspended. */
  async resume(id: string, hook: HookDefinition): Promise<boolean> {
    const key = keyOfHook(hook);
    let isResumed = false;
    const resuming = this.#turn.then(async () => {
      const known = key === null ? undefined : this.#known.get(id)?.get(key);
      if (known === undefined || known.kept.suspended === null || this.#isClosed) return;
      const { clock, statements, store } = this.#ports;
      const kept = { ...known.kept, firedThrough: clock.now(), failures: 0, suspended: null };
      await store([], [statements.kept(kept)]);
      known.kept = kept;
      known.next = undefined;
      isResumed = true;
      await this.#tell(kept, null);
      await this.#look();
    });
    this.#turn = resuming.catch(() => undefined);
    await resuming;
    return isResumed;
  }

  /** Returns why a schedule of an agent is suspended; null if it is not. */
  suspension(id: string, hook: HookDefinition): ScheduleSuspension | null {
    const key = keyOfHook(hook);
    return key === null ? null : (this.#known.get(id)?.get(key)?.kept.suspended ?? null);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#timer?.[Symbol.dispose]();
    await this.#turn;
  }

  /** Fires due runs and sets the timer for the next one. */
  async #look(): Promise<void> {
    if (this.#isClosed) return;
    this.#timer?.[Symbol.dispose]();
    this.#timer = null;
    let isWhole = true;
    for (const agent of this.#ports.agents.values())
      isWhole = (await attempt(agent, () => this.#keep(agent))) && isWhole;
    const due = this.#running().filter(({ next }) => next <= this.#ports.clock.now());
    for (const running of due) isWhole = (await attempt(running.agent, () => this.#fire(running))) && isWhole;
    this.#arm(isWhole);
  }

  #arm(isWhole: boolean): void {
    const { clock } = this.#ports;
    const [first] = this.#running();
    if (this.#isClosed || (first === undefined && isWhole)) return;
    const untilFirstMs = Math.min((first?.next ?? Infinity) - clock.now(), maxAheadMs);
    // A failed run is still due: it is retried after the delay, not sooner.
    this.#timer = clock.timer(isWhole ? untilFirstMs : scheduleRetryMs, () => {
      this.#timer = null;
      // Never rejects.
      void this.follow();
    });
  }

  /** Updates an agent's schedules to its current manifest. */
  async #keep({ definition, isListening, trace }: ScheduledAgent): Promise<void> {
    if (definition.awaiting !== undefined) return;
    const { clock, statements, store } = this.#ports;
    const now = clock.now();
    const wanted = isListening ? schedulesOf(definition) : new Map<string, Wanted>();
    const known = this.#of(definition.id);
    const gone = [...known].filter(([key]) => !wanted.has(key));
    const counting = [...wanted].flatMap(([key, { handler, expression, timing }]): [string, Known][] => {
      const before = known.get(key)?.kept;
      if (before !== undefined && before.firedThrough - now <= maxSetBackMs) return [];
      if (before !== undefined)
        trace("warn", `The clock was set back: ${handler} (${expression}) counts from now.`);
      const { timezone } = timing;
      return [
        [
          key,
          knownAs({
            agent: definition.id,
            handler,
            expression,
            timezone,
            firedThrough: now,
            failures: 0,
            suspended: null,
          }),
        ],
      ];
    });
    if (gone.length > 0 || counting.length > 0)
      await store(
        [],
        [
          ...gone.map(([, { kept }]) => statements.forgotten(kept)),
          ...counting.map(([, { kept }]) => statements.kept(kept)),
        ],
      );
    for (const [key] of gone) known.delete(key);
    for (const [key, one] of counting) known.set(key, one);
    // Finding the next run of a rare schedule takes time, and an agent may have hundreds.
    for (const [key, { timing }] of wanted) {
      computeNext(known.get(key), timing);
      if (!this.#slices.hasTime) await this.#slices.next();
    }
  }

  /** Returns the schedules of the present agents, sorted by their next run. */
  #running(): Running[] {
    return [...this.#ports.agents.values()]
      .flatMap((agent) => [...schedulesOfPresent(agent)].map((one) => [agent, ...one] as const))
      .flatMap(([agent, key, wanted]): Running[] => {
        const known = this.#known.get(agent.definition.id)?.get(key);
        const next = known?.next ?? null;
        if (known === undefined || next === null || known.kept.suspended !== null) return [];
        return [{ ...wanted, agent, key, known, next: next + delayOf(known, wanted.timing) }];
      })
      .toSorted((a, b) => a.next - b.next);
  }

  async #fire({ agent, key, known, timing }: Running): Promise<void> {
    const { clock, agents, routing, statements, waiting, store } = this.#ports;
    const { agent: id, handler, expression, timezone } = known.kept;
    const schedule = `${handler} (${expression}, ${timezone})`;
    const now = clock.now();
    const through = now - delayOf(known, timing);
    const due = timing.between(known.kept.firedThrough, through, mostWaiting(timing) + countedRuns + 1);
    const waitingNow = await waiting(id, key);
    // Uses the current definition: the agent may have changed or been removed meanwhile.
    const isThere = agents.get(id) === agent && schedulesOfPresent(agent).has(key);
    if (this.#isClosed || !isThere) return;
    // A run that was delayed until after the active hours is skipped.
    const isActive = timing.isActive(now);
    const firing = isActive ? runsToFire(timing, due, waitingNow, through) : [];
    const deliveries = firing.flatMap((run): RoutedDelivery[] => {
      const event = {
        id: newId(),
        name: "ScheduleFired",
        timestamp: isoTime(now),
        schedule: expression,
        scheduled_for: isoTime(run),
      };
      const heard = deliveriesFor(agent.definition, event, "live", routing);
      return [
        { agent: id, lane: "live", payload: { handler, event, schedule, runOf: key }, source: key },
        ...heard.map((delivery) => ({ ...delivery, payload: { ...delivery.payload, schedule } })),
      ];
    });
    const firedThrough = Math.max(known.kept.firedThrough, due.at(-1) ?? through);
    const kept = { ...known.kept, firedThrough };
    await store(deliveries, [statements.kept(kept)]);
    known.kept = kept;
    if (isActive) known.leftOut += due.length - firing.length;
    known.next = undefined;
    computeNext(known, timing);
    const isHeldUp = waitingNow > 0 && firing.length === 0;
    // While no delivery succeeds, it would be reported with every run.
    if (known.leftOut === 0 || isHeldUp) return;
    agent.trace(
      timing.catchUp === "all" ? "warn" : "info",
      `${handler} (${expression}): ${counted(known.leftOut)} left out`,
      { catch_up: timing.catchUp, left_out: Math.min(known.leftOut, countedRuns) },
      { hook: handler, onBehalfOf: [{ kind: "schedule", agent: id, schedule }] },
    );
    known.leftOut = 0;
  }

  async #count(id: string, key: string, error: string | null): Promise<void> {
    const known = this.#known.get(id)?.get(key);
    const agent = this.#ports.agents.get(id);
    if (known === undefined || agent === undefined || this.#isClosed) return;
    const { clock, statements, store } = this.#ports;
    const failures = error === null ? 0 : known.kept.failures + 1;
    const suspends = error !== null && failures >= failuresToSuspend && known.kept.suspended === null;
    const kept = {
      ...known.kept,
      failures,
      suspended: suspends
        ? { since: isoTime(clock.now()), error: error.slice(0, errorCharacters).toWellFormed() }
        : known.kept.suspended,
    };
    // Set before it is stored: a crash in between loses one counted failure, and nothing else.
    known.kept = kept;
    // The person is told first, so that a crash in between repeats the message instead of losing it.
    if (suspends) await this.#tell(kept, error);
    await attempt(agent, () => store([], [statements.kept(kept)]));
    if (!suspends) return;
    const { handler, expression } = kept;
    agent.trace(
      "warn",
      `the schedule of ${handler} (${expression}) is suspended, because ${failures} runs in a row failed: ${error}`,
      { failures },
      { hook: handler },
    );
    agent.announce();
    await this.#look();
  }

  #tell({ agent, handler, expression }: KeptSchedule, error: string | null): Promise<void> {
    return this.#ports.tell(agent, { handler, schedule: expression }, error);
  }

  #of(agent: string): Map<string, Known> {
    const known = this.#known.get(agent) ?? new Map<string, Known>();
    this.#known.set(agent, known);
    return known;
  }
}

/** Returns false on failure, which is written to the agent's traces. */
async function attempt({ trace }: ScheduledAgent, work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    trace("error", `its schedules are tried again in ${scheduleRetryMs} ms: ${messageOf(error)}`);
    return false;
  }
}

function schedulesOfPresent({ definition, isListening }: ScheduledAgent): ReadonlyMap<string, Wanted> {
  return isListening && definition.awaiting === undefined ? schedulesOf(definition) : new Map();
}

/** By key; of duplicates, the first is used. */
function schedulesOf({ hooks }: AgentDefinition): ReadonlyMap<string, Wanted> {
  const schedules = new Map<string, Wanted>();
  for (const hook of hooks) {
    const { handler, schedule: expression, timing } = hook;
    const key = keyOfHook(hook);
    if (key === null || expression === undefined || timing === undefined) continue;
    if (!schedules.has(key)) schedules.set(key, { handler, expression, timing });
  }
  return schedules;
}

function computeNext(known: Known | undefined, timing: ScheduleTiming): void {
  if (known !== undefined && known.next === undefined) known.next = timing.next(known.kept.firedThrough);
}

function knownAs(kept: KeptSchedule): Known {
  return { kept, next: undefined, leftOut: 0, lateness: Math.random() };
}

/** Returns how late a schedule's runs fire, in milliseconds. */
function delayOf({ lateness }: Known, { jitterMs }: ScheduleTiming): number {
  return Math.floor(lateness * jitterMs);
}

function counted(runs: number): string {
  if (runs > countedRuns) return `more than ${countedRuns} runs were`;
  return runs === 1 ? "1 run was" : `${runs} runs were`;
}
