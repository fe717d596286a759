import { Emitter } from "../../base/emitter.ts";
import { notFound } from "../../base/errors.ts";
import type { JsonValue } from "../../base/json.ts";
import { newId } from "../../base/ids.ts";
import { isoTime } from "../../base/clock.ts";
import type { Authority } from "../../base/vocabulary/permissions.ts";
import type { Agent, AgentCommand } from "../../base/vocabulary/agent.ts";
import type { Job } from "../../base/vocabulary/job.ts";
import type { Principal } from "../../base/vocabulary/principal.ts";
import type { EntryChange, LaresEvent } from "../../base/vocabulary/event.ts";
import { cancelOrphan, listJobs } from "../running-jobs/job-list.ts";
import { hasRoom, emitterOf, sourceOfEmitter } from "../delivery/event-backlog.ts";
import { FairTurns } from "../calls/fair-turns.ts";
import { traceWriter } from "../trace-writer.ts";
import { InitialSyncs } from "../delivery/initial-sync.ts";
import type { AgentDefinition } from "../ports.ts";
import { deliveriesFor, type RoutedDelivery, type RouterOptions } from "../delivery/router.ts";
import { IdleScheduler } from "./idle-scheduler.ts";
import { Schedules } from "../delivery/schedules.ts";
import type { Enqueued, RegistryPorts } from "./registry-ports.ts";
import { AgentSlots } from "./slots.ts";
import { Supervisor } from "./supervisor.ts";

/** All agents of one kernel: which there are, what reaches them, and a person's commands to them. */
export class AgentRegistry<Statement> implements AsyncDisposable {
  readonly changed = new Emitter<Agent>();
  /** Some agent's events of today are more than before. */
  readonly counted = new Emitter<Agent>();
  /** Some agent's jobs are others, or further on; by its id. */
  readonly jobsChanged = new Emitter<string>();
  readonly #ports: RegistryPorts<Statement>;
  readonly #supervisors = new Map<string, Supervisor>();
  /** Of agents whose manifest cannot be used now: their authority before. */
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
      alreadyTold: ports.alreadyTold,
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

  async control(by: Principal, id: string, command: AgentCommand): Promise<Agent> {
    const agent = await this.get(id).control(by, command);
    if (this.#isStarted && (command === "enable" || command === "disable")) await this.#schedules.follow();
    if (command === "enable" && this.#lastRun !== null) await this.#show([id], this.#lastRun, "new");
    return agent;
  }

  /** Jobs that have not ended, of one agent or of all: those that run, then those that wait, in their order. */
  jobs(count: number, agent?: string): { readonly items: Job[]; readonly total: number } {
    return listJobs(this.#ports.jobs, this.#supervisors.values(), count, agent);
  }

  /**
   * A command of `by`; answers when it is kept that the job is not run again. NotFound, also where it is not the
   * named agent's; IllegalTransition where it has ended.
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

  /** Events answered and host calls refused, over all agents since the kernel started. */
  totals(): { events: number; refusals: number } {
    let { events, refusals } = this.#retired;
    for (const { metrics } of this.#supervisors.values()) {
      events += metrics.eventsAnswered;
      refusals += metrics.refusals;
    }
    return { events, refusals };
  }

  /** The calendar shows another day: what is counted by it begins anew. */
  dayTurned(): void {
    for (const supervisor of this.#supervisors.values()) supervisor.dayTurned();
  }

  /** True when no agent has anything in hand or to take up. */
  get isIdle(): boolean {
    return [...this.#supervisors.values()].every((supervisor) => supervisor.isIdle);
  }

  /** In monotonic milliseconds; null while the index is being built, or some agent has something in hand. */
  #quietSince(): number | null {
    const supervisors = [...this.#supervisors.values()];
    if (this.#lastRun === null || !supervisors.every(({ isQuiet }) => isQuiet)) return null;
    return Math.max(...supervisors.map(({ lastActivity }) => lastActivity));
  }

  /** Brings the running agents to what the documents now say: starts, changes and removes. */
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
    // An agent that comes when the index is already there is shown its locations now.
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

  /** Lets the agents and their schedules run. Before this they are known, and what happens is kept for them. */
  async start(): Promise<void> {
    if (this.#isStarted) return;
    this.#isStarted = true;
    for (const supervisor of this.#supervisors.values()) supervisor.start();
    await this.#schedules.follow();
  }

  /** The workspace is about to store these changes: what follows for the agents goes into the same transaction. */
  deliver(changes: readonly EntryChange[]): Enqueued<Statement> {
    const deliveries: RoutedDelivery[] = [];
    const told: Statement[] = [];
    const listening = this.#listening();
    for (const change of changes) {
      // Made when somebody may hear of it: a first index has many thousand changes that nobody is told of here.
      let event: LaresEvent | null = null;
      for (const { definition } of listening) {
        const { tells, statements } = this.#sights.meet(definition, change);
        told.push(...statements);
        if (!tells) continue;
        event ??= this.#ports.eventOf(change);
        const lane = change.origin === "live" ? "live" : "backlog";
        deliveries.push(...deliveriesFor(definition, event, lane, this.#routing));
      }
    }
    return this.#enqueue(deliveries, told);
  }

  /** An index run over the whole workspace ended. */
  async indexed(run: { entries: number; durationMs: number }): Promise<void> {
    this.#lastRun = run;
    await this.#show([...this.#supervisors.keys()], run, "run");
    this.#quiet.look();
  }

  /** An agent's own event, to whoever subscribed to it. `name` is "publisher.id/EventName". */
  async emit(name: string, data: Readonly<Record<string, JsonValue | undefined>>): Promise<void> {
    const event: LaresEvent = {
      ...data,
      id: newId(),
      name,
      timestamp: isoTime(this.#ports.clock.now()),
    };
    const deliveries: RoutedDelivery[] = [];
    const source = sourceOfEmitter(emitterOf(name));
    const backlog = {
      queue: this.#ports.queue,
      onDropped: (id: string, dropped: string, reason: string) =>
        this.#supervisors.get(id)?.dropped(dropped, reason),
    };
    for (const { definition } of this.#listening()) {
      const own = deliveriesFor(definition, event, "live", this.#routing);
      if (own.length > 0 && hasRoom(backlog, definition.id, name))
        deliveries.push(...own.map((delivery) => ({ ...delivery, source })));
    }
    await this.#commit(this.#enqueue(deliveries));
  }

  /**
   * Prepares a built-in event that is addressed to one agent, for somebody else's transaction. Empty where the agent is
   * not there, is disabled or has no hook for it.
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
        acquireSlot: () => this.#slots.acquire(),
        takeTurn: (agent) => this.#turns.take(agent),
      },
      rested: () => {
        this.#makeRoom();
        this.#quiet.look();
      },
      othersAreQuiet: () =>
        [...this.#supervisors.values()].every((other) => other.id === definition.id || other.isQuiet),
      isPlaceWanted: () => this.#slots.hasWaiters,
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
    await supervisor.update(definition);
    if (definition.problems?.isUnusable === true) {
      // A manifest that is half-typed takes nothing away for good: what was shown is not shown anew when it is whole.
      this.#lastUsable.set(id, before);
      return;
    }
    this.#lastUsable.delete(id);
    if (JSON.stringify(before) === JSON.stringify(definition.authority)) return;
    await this.#ports.commit(this.#sights.forgetUngranted(definition));
    const event: LaresEvent = {
      id: newId(),
      name: "PermissionChanged",
      timestamp: isoTime(this.#ports.clock.now()),
    };
    await this.#commit(this.#enqueue(deliveriesFor(definition, event, "live", this.#routing)));
    if (this.#lastRun !== null) await this.#show([definition.id], this.#lastRun, "new");
  }

  /** Tells agents what the index holds: after a run all of it, otherwise only where a location is new to them. */
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

  /** A disabled agent hears nothing, and is not told afterwards what it missed. */
  #listening(): Supervisor[] {
    return [...this.#supervisors.values()].filter((supervisor) => supervisor.isListening);
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
    // They stay known: what the index stores while the kernel closes is still put into their queues.
    await Promise.all([...this.#supervisors.values()].map((supervisor) => supervisor[Symbol.asyncDispose]()));
  }
}
