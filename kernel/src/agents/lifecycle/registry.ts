import { type Foreign, foreignFrom, nothingForeign } from "../../base/vocabulary/foreign.ts";
import { Emitter } from "../../base/emitter.ts";
import { notFound } from "../../base/errors.ts";
import type { JsonValue } from "../../base/json.ts";
import { newId } from "../../base/ids.ts";
import { isoTime } from "../../base/clock.ts";
import type { Authority } from "../../base/vocabulary/permissions.ts";
import type { Agent, AgentCommand } from "../../base/vocabulary/agent.ts";
import type { Job } from "../../base/vocabulary/job.ts";
import { type Lineage, ownAccord, type Principal } from "../../base/vocabulary/principal.ts";
import type { EntryChange, LaresEvent } from "../../base/vocabulary/event.ts";
import { cancelOrphan, listJobs } from "../running-jobs/job-list.ts";
import { emitterOf } from "../delivery/event-backlog.ts";
import { deliveriesOf, lineageOfEvent } from "../delivery/emitted-events.ts";
import { FairTurns } from "../../base/fair-turns.ts";
import { traceWriter } from "../trace-writer.ts";
import { InitialSyncs } from "../delivery/initial-sync.ts";
import type { AgentDefinition } from "../ports.ts";
import { deliveriesFor, type RoutedDelivery, type RouterOptions } from "../delivery/router.ts";
import { IdleScheduler } from "./idle-scheduler.ts";
import { Schedules } from "../delivery/schedules.ts";
import { resumeSchedule } from "./resume-schedule.ts";
import type { Enqueued, RegistryPorts, MindEvent } from "./registry-ports.ts";
import { AgentSlots } from "../slots.ts";
import { Supervisor } from "./supervisor.ts";

/** All agents of one kernel, their input, and the user's commands to them. */
export class AgentRegistry<Statement> implements AsyncDisposable {
  readonly changed = new Emitter<Agent>();
  /** An agent's event count of today has grown. */
  readonly counted = new Emitter<Agent>();
  /** An agent's jobs have changed or progressed; with its id. */
  readonly jobsChanged = new Emitter<string>();
  readonly #ports: RegistryPorts<Statement>;
  readonly #supervisors = new Map<string, Supervisor>();
  /** The last valid authority of agents whose manifest is invalid now. */
  readonly #lastUsable = new Map<string, Authority>();
  readonly #sights: InitialSyncs<Statement>;
  readonly #schedules: Schedules<Statement>;
  readonly #slots: AgentSlots;
  readonly #turns: FairTurns;
  readonly #routing: RouterOptions;
  readonly #quiet: IdleScheduler;
  #isClosing = false;
  #lastRun: { entries: number; durationMs: number } | null = null;
  #isStarted = false;
  #retired = { events: 0, refusals: 0 };

  constructor(ports: RegistryPorts<Statement>) {
    this.#ports = ports;
    this.#turns = new FairTurns(ports.clock, ports.nextTurn);
    this.#slots = new AgentSlots(ports.activeAgents(), () => this.#unloadLongestIdle());
    this.#quiet = new IdleScheduler({
      clock: ports.clock,
      agents: () => this.#supervisors.values(),
      quietSince: () => this.#quietSince(),
    });
    this.#routing = {
      clock: ports.clock,
      eventOf: ports.eventOf,
      onFilterError: (agent, hook, message) =>
        this.#supervisors
          .get(agent)
          ?.trace("warn", `the filter of ${hook.handler} failed: ${message}`, { filter: hook.filter }),
      isEntry: (path) => ports.isEntry(path),
      hides: (path) => ports.hides(path),
      onWithheld: (agent, event, reason) => this.#supervisors.get(agent)?.withheld(event, reason),
    };
    this.#sights = new InitialSyncs({
      statements: ports.sightStatements,
      alreadyShown: ports.alreadyShown,
      alreadyAnnounced: ports.alreadyAnnounced,
      allEntries: () => ports.allEntries(),
      store: (deliveries, more) => this.#commit(this.#enqueue(deliveries, more)),
      routing: this.#routing,
    });
    this.#schedules = new Schedules({
      clock: ports.clock,
      routing: this.#routing,
      statements: ports.scheduleStatements,
      alreadyFired: ports.alreadyFired,
      agents: this.#supervisors,
      waiting: (agent, source) => ports.waiting(agent, source),
      store: (deliveries, more) => this.#commit(this.#enqueue(deliveries, more)),
    });
  }

  list(): Agent[] {
    return [...this.#supervisors.values()].map((supervisor) => supervisor.describe());
  }

  definitions(): AgentDefinition[] {
    return [...this.#supervisors.values()].map((supervisor) => supervisor.definition);
  }

  get(id: string): Supervisor {
    const supervisor = this.#supervisors.get(id);
    if (supervisor === undefined) throw notFound("agent", id);
    return supervisor;
  }

  find(id: string): Supervisor | undefined {
    return this.#supervisors.get(id);
  }

  /** `hook`: with "resume", the index in `Agent.hooks` of a suspended schedule. */
  async control(by: Principal, id: string, command: AgentCommand, hook?: number): Promise<Agent> {
    if (hook !== undefined) return await resumeSchedule(by, this.get(id), this.#schedules, command, hook);
    const agent = await this.get(id).control(by, command);
    if (this.#isStarted && (command === "enable" || command === "disable")) await this.#schedules.follow();
    if (command === "enable" && this.#lastRun !== null) await this.#show([id], this.#lastRun, "new");
    return agent;
  }

  /** Returns the jobs that have not ended, of one agent or of all: running jobs, then waiting ones in order. */
  jobs(count: number, agent?: string): { readonly items: Job[]; readonly total: number } {
    return listJobs(this.#ports.jobs, this.#supervisors.values(), count, agent);
  }

  /**
   * Cancels a job for `by`. Resolves once it is stored that the job does not run again. NotFound, also if the job
   * belongs to another agent; IllegalTransition if it has ended.
   */
  async cancelJob(by: Principal, id: string, agent?: string): Promise<Job> {
    const { jobs: queue, traces } = this.#ports;
    const owner = queue.ownerOf(id);
    if (owner === undefined || (agent !== undefined && owner !== agent)) throw notFound("job", id);
    const supervisor = this.find(owner);
    if (supervisor !== undefined) return supervisor.jobs.cancel(by, id);
    const job = await cancelOrphan(queue, by, owner, id, traceWriter(traces, owner));
    this.jobsChanged.emit(owner);
    return job;
  }

  /** Events answered and host calls refused by all agents since the kernel started. */
  totals(): { events: number; refusals: number } {
    let { events, refusals } = this.#retired;
    for (const { metrics } of this.#supervisors.values()) {
      events += metrics.eventsAnswered;
      refusals += metrics.refusals;
    }
    return { events, refusals };
  }

  /** The date has changed: daily counts restart. */
  dayTurned(): void {
    for (const supervisor of this.#supervisors.values()) supervisor.dayTurned();
  }

  /** True if no agent has open or waiting work. */
  get isIdle(): boolean {
    return [...this.#supervisors.values()].every((supervisor) => supervisor.isIdle);
  }

  /** In monotonic milliseconds; null while the index is being built or an agent has open work. */
  #quietSince(): number | null {
    const supervisors = [...this.#supervisors.values()];
    if (this.#lastRun === null || !supervisors.every(({ isQuiet }) => isQuiet)) return null;
    return Math.max(...supervisors.map(({ lastActivity }) => lastActivity));
  }

  /** Updates the agents to the current documents: starts, changes and removes. */
  async apply(definitions: readonly AgentDefinition[]): Promise<void> {
    this.#slots.limit = this.#ports.activeAgents();
    const wanted = new Map(definitions.map((definition) => [definition.id, definition]));
    for (const [id, supervisor] of this.#supervisors) {
      if (wanted.has(id)) continue;
      this.#supervisors.delete(id);
      this.#lastUsable.delete(id);
      this.#retired.events += supervisor.metrics.eventsAnswered;
      this.#retired.refusals += supervisor.metrics.refusals;
      await supervisor[Symbol.asyncDispose]();
      await this.#ports.clearQueue(id);
    }
    const fresh: Supervisor[] = [];
    for (const definition of definitions) {
      const existing = this.#supervisors.get(definition.id);
      if (existing === undefined) fresh.push(this.#add(definition));
      else await this.#update(existing, definition);
    }
    // An agent that is added after the index was built is shown its locations now.
    if (this.#lastRun !== null)
      await this.#show(
        fresh.map(({ id }) => id),
        this.#lastRun,
        "new",
      );
    if (!this.#isStarted) return;
    for (const supervisor of fresh) supervisor.start();
    await this.#schedules.follow();
  }

  /** Starts the agents and their schedules. Before this, events for them are queued. */
  async start(): Promise<void> {
    if (this.#isStarted) return;
    this.#isStarted = true;
    for (const supervisor of this.#supervisors.values()) supervisor.start();
    await this.#schedules.follow();
  }

  /** Returns the deliveries for the changes that the workspace is about to store, for the same transaction. */
  deliver(changes: readonly EntryChange[]): Enqueued<Statement> {
    const deliveries: RoutedDelivery[] = [];
    const marks: Statement[] = [];
    const listening = [...this.listening()];
    for (const change of changes) {
      // Computed only if an agent may receive it: a first index has many thousands of changes.
      let event: LaresEvent | null = null;
      for (const { definition } of listening) {
        const { isNews, statements } = this.#sights.meet(definition, change);
        marks.push(...statements);
        if (!isNews) continue;
        event ??= this.#ports.eventOf(change);
        const lane = change.origin === "live" ? "live" : "backlog";
        deliveries.push(...deliveriesFor(definition, event, lane, this.#routing));
      }
    }
    return this.#enqueue(deliveries, marks);
  }

  /** An index run over the whole workspace ended. */
  async indexed(run: { entries: number; durationMs: number }): Promise<void> {
    this.#lastRun = run;
    await this.#show([...this.#supervisors.keys()], run, "run");
    this.#quiet.look();
  }

  /**
   * Delivers an agent's custom event to its subscribers. `name` is "publisher.id/EventName"; `foreign` is what the agent
   * had read, `lineage` on whose behalf it emits. Throws LimitExceeded as `lineageOfEvent` does.
   */
  async emit(
    name: string,
    data: Readonly<Record<string, JsonValue | undefined>>,
    foreign: Foreign = nothingForeign,
    lineage: Lineage = ownAccord,
  ): Promise<void> {
    const event = { ...data, id: newId(), name, timestamp: isoTime(this.#ports.clock.now()) };
    const emitter = emitterOf(name);
    const carried = lineageOfEvent(emitter, name, lineage, (reason) =>
      this.find(emitter)?.dropped(name, reason),
    );
    await this.#commit(this.#enqueue(this.#fromEmitter(event, emitter, foreign, carried)));
  }

  /** Delivers events of a mind's conversations, in order, to the agents that subscribed to them and may receive them. */
  async tellOfMind(mind: string, events: readonly MindEvent[]): Promise<void> {
    const timestamp = isoTime(this.#ports.clock.now());
    // Their share of a queue is not that of events that the mind's program emits.
    const emitter = `the mind of ${mind}`;
    const deliveries = events.flatMap(({ name, fields, sources = [] }) =>
      this.#fromEmitter({ ...fields, id: newId(), name, timestamp }, emitter, foreignFrom(sources, "all")),
    );
    await this.#commit(this.#enqueue(deliveries));
  }

  /** The agents that are enabled. A disabled one receives no events, and what it misses is not delivered later. */
  *listening(): Generator<Supervisor> {
    for (const supervisor of this.#supervisors.values()) if (supervisor.isListening) yield supervisor;
  }

  #fromEmitter(event: LaresEvent, emitter: string, foreign: Foreign, lineage = ownAccord): RoutedDelivery[] {
    return deliveriesOf(
      { event, emitter, foreign, lineage },
      {
        definitions: [...this.listening()].map(({ definition }) => definition),
        queue: this.#ports.queue,
        routing: this.#routing,
        onDropped: (id, dropped, reason) => this.#supervisors.get(id)?.dropped(dropped, reason),
      },
    );
  }

  /**
   * Prepares a built-in event for one agent, for the caller's transaction. Empty if the agent does not exist, is
   * disabled or has no hook for it.
   */
  tell(agent: string, name: string, fields: Readonly<Record<string, unknown>>): Enqueued<Statement> {
    const supervisor = this.#supervisors.get(agent);
    if (supervisor?.isListening !== true) return this.#enqueue([]);
    const event: LaresEvent = {
      ...fields,
      id: newId(),
      name,
      timestamp: isoTime(this.#ports.clock.now()),
    };
    return this.#enqueue(deliveriesFor(supervisor.definition, event, "live", this.#routing));
  }

  #add(definition: AgentDefinition): Supervisor {
    const supervisor = new Supervisor({
      definition,
      clock: this.#ports.clock,
      idleUnloadMs: this.#ports.idleUnloadMs,
      ports: {
        ...this.#ports,
        acquireSlot: () => this.#slots.acquire(supervisor),
        takeTurn: (agent) => this.#turns.take(agent),
        ran: (agent, schedule, error) => this.#schedules.ended(agent, schedule, error),
        suspension: (agent, hook) => this.#schedules.suspension(agent, hook),
      },
      rested: () => {
        this.#makeRoom();
        this.#quiet.look();
      },
      othersAreQuiet: () =>
        [...this.#supervisors.values()].every((other) => other.id === definition.id || other.isQuiet),
      slots: this.#slots,
    });
    this.#supervisors.set(definition.id, supervisor);
    supervisor.counted.on((agent) => this.counted.emit(agent));
    supervisor.jobsChanged.on((id) => this.jobsChanged.emit(id));
    supervisor.changed.on((agent) => {
      this.changed.emit(agent);
      this.#makeRoom();
    });
    return supervisor;
  }

  async #update(supervisor: Supervisor, definition: AgentDefinition): Promise<void> {
    const { id } = definition;
    const before = this.#lastUsable.get(id) ?? supervisor.definition.authority;
    const modelsBefore = JSON.stringify(supervisor.definition.models);
    await supervisor.update(definition);
    if (definition.problems?.isUnusable === true) {
      // An invalid manifest does not reset the progress: entries are not delivered again once it is valid.
      this.#lastUsable.set(id, before);
      return;
    }
    this.#lastUsable.delete(id);
    const hasSameModels = modelsBefore === JSON.stringify(definition.models);
    if (hasSameModels && JSON.stringify(before) === JSON.stringify(definition.authority)) return;
    await this.#ports.commit(this.#sights.forgetUngranted(definition));
    const event: LaresEvent = {
      id: newId(),
      name: "PermissionChanged",
      timestamp: isoTime(this.#ports.clock.now()),
    };
    await this.#commit(this.#enqueue(deliveriesFor(definition, event, "live", this.#routing)));
    if (this.#lastRun !== null) await this.#show([definition.id], this.#lastRun, "new");
  }

  /** Delivers the index to the agents: all of it after a run, otherwise only new locations. */
  async #show(
    agents: readonly string[],
    run: { readonly durationMs: number },
    why: "run" | "new",
  ): Promise<void> {
    for (const id of agents) {
      const supervisor = this.#supervisors.get(id);
      const current = (): AgentDefinition | null =>
        !this.#isClosing && this.#supervisors.get(id) === supervisor && supervisor?.enabled === true
          ? supervisor.definition
          : null;
      await this.#sights.show(id, current, run.durationMs, why);
    }
  }

  #enqueue(deliveries: readonly RoutedDelivery[], more: readonly Statement[] = []): Enqueued<Statement> {
    const enqueued = this.#ports.enqueue(deliveries);
    return {
      statements: [...enqueued.statements, ...more],
      committed: () => {
        for (const { agent } of deliveries) this.#supervisors.get(agent)?.metrics.received();
        enqueued.committed();
        for (const agent of new Set(deliveries.map((delivery) => delivery.agent)))
          this.#supervisors.get(agent)?.pump();
      },
    };
  }

  async #commit(enqueued: Enqueued<Statement>): Promise<void> {
    if (enqueued.statements.length === 0) return;
    await this.#ports.commit(enqueued.statements);
    enqueued.committed();
  }

  #makeRoom(): void {
    if (this.#slots.hasWaiters) this.#unloadLongestIdle();
  }

  #unloadLongestIdle(): void {
    const idle = [...this.#supervisors.values()]
      .filter((supervisor) => supervisor.idleSince !== null)
      .toSorted((a, b) => (a.idleSince ?? 0) - (b.idleSince ?? 0));
    idle[0]?.unloadIfIdle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    this.#quiet[Symbol.dispose]();
    await this.#schedules[Symbol.asyncDispose]();
    // The agents stay registered: changes that the index stores while the kernel closes are still queued for them.
    await Promise.all([...this.#supervisors.values()].map((supervisor) => supervisor[Symbol.asyncDispose]()));
  }
}
