import { Emitter } from "../../base/emitter.ts";
import { isLaresError, notFound } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import { isoTime } from "../../base/clock.ts";
import type { Authority } from "../../base/vocabulary/permissions.ts";
import type { Agent, AgentCommand } from "../../base/vocabulary/agent.ts";
import type { Job } from "../../base/vocabulary/job.ts";
import type { Principal } from "../../base/vocabulary/principal.ts";
import type { LaresEvent } from "../../base/vocabulary/event.ts";
import { cancelOrphan, listJobs } from "../running-jobs/job-list.ts";
import { FairTurns } from "../../base/fair-turns.ts";
import { traceWriter } from "../trace-writer.ts";
import type { AgentDefinition } from "../ports.ts";
import { deliveriesFor } from "../delivery/router.ts";
import type { Deliveries } from "./deliveries.ts";
import { IdleScheduler } from "./idle-scheduler.ts";
import { Schedules } from "../delivery/schedules.ts";
import { resumeSchedule } from "./resume-schedule.ts";
import type { RegistryPorts } from "./registry-ports.ts";
import type { AgentRoster } from "./roster.ts";
import { AgentSlots } from "../slots.ts";
import { Supervisor } from "./supervisor.ts";

/** All agents of one kernel, their input, and the user's commands to them. */
export class AgentRegistry<Statement> implements AsyncDisposable {
  readonly changed = new Emitter<Agent>();
  /** Agents were added, and all of them are known. */
  readonly added = new Emitter<void>();
  /** An agent's event count of today has grown. */
  readonly counted = new Emitter<Agent>();
  /** An agent's jobs have changed or progressed; with its id. */
  readonly jobsChanged = new Emitter<string>();
  readonly #ports: RegistryPorts<Statement>;
  readonly #agents: AgentRoster;
  /** The last valid authority of agents whose manifest is invalid now. */
  readonly #lastUsable = new Map<string, Authority>();
  readonly #deliveries: Deliveries<Statement>;
  readonly #schedules: Schedules<Statement>;
  readonly #slots: AgentSlots;
  readonly #turns: FairTurns;
  readonly #quiet: IdleScheduler;
  #isClosing = false;
  #lastRun: { entries: number; durationMs: number } | null = null;
  #isStarted = false;
  #retired = { events: 0, refusals: 0 };

  constructor(ports: RegistryPorts<Statement>) {
    this.#ports = ports;
    this.#agents = ports.agents;
    this.#deliveries = ports.deliveries;
    this.#turns = new FairTurns(ports.clock, ports.nextTurn);
    this.#slots = new AgentSlots(ports.activeAgents(), () => this.#unloadLongestIdle());
    this.#quiet = new IdleScheduler({
      clock: ports.clock,
      agents: () => ports.agents.all,
      quietSince: () => this.#quietSince(),
    });
    this.#schedules = new Schedules({
      clock: ports.clock,
      routing: ports.deliveries.routing,
      statements: ports.scheduleStatements,
      alreadyFired: ports.alreadyFired,
      agents: ports.agents.byId,
      waiting: (agent, source) => ports.waiting(agent, source),
      store: (deliveries, more) => ports.deliveries.store(deliveries, more),
      tell: async (agent, schedule, error) => await ports.tellSchedule(agent, schedule, error),
    });
  }

  list(): Agent[] {
    return this.#agents.all.map((supervisor) => supervisor.describe());
  }

  get(id: string): Supervisor {
    return this.#agents.get(id);
  }

  find(id: string): Supervisor | undefined {
    return this.#agents.find(id);
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
    return listJobs(this.#ports.jobs, this.#agents.all, count, agent);
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

  /**
   * Stops the present work of a conversation or, if given, of these processes. The stop holds from this call on; the promise
   * resolves once the jobs of that work are cancelled.
   */
  async stopWork(by: Principal, conversation: string, processes: Iterable<string> | null): Promise<void> {
    const { stopped, jobs } = this.#ports;
    if (stopped === undefined) return;
    stopped.stop(conversation, processes);
    for (const supervisor of this.#agents.all) supervisor.abortStopped(stopped);
    for (const { id, lineage } of await jobs.causedIn(conversation)) {
      if (!stopped.isStopped(lineage)) continue;
      await this.cancelJob(by, id).catch((error: unknown) => {
        // It has ended meanwhile.
        if (!isLaresError(error, "NotFound") && !isLaresError(error, "IllegalTransition")) throw error;
      });
    }
  }

  /** Events answered and host calls refused by all agents since the kernel started. */
  totals(): { events: number; refusals: number } {
    let { events, refusals } = this.#retired;
    for (const { metrics } of this.#agents.all) {
      events += metrics.eventsAnswered;
      refusals += metrics.refusals;
    }
    return { events, refusals };
  }

  /** The date has changed: daily counts restart. */
  dayTurned(): void {
    for (const supervisor of this.#agents.all) supervisor.dayTurned();
  }

  /** True if no agent has open or waiting work. */
  get isIdle(): boolean {
    return this.#agents.all.every((supervisor) => supervisor.isIdle);
  }

  /** In monotonic milliseconds; null while the index is being built or an agent has open work. */
  #quietSince(): number | null {
    const supervisors = this.#agents.all;
    if (this.#lastRun === null || !supervisors.every(({ isQuiet }) => isQuiet)) return null;
    return Math.max(...supervisors.map(({ lastActivity }) => lastActivity));
  }

  /**
   * Updates the agents to the current documents: starts, changes and removes. Null pauses all of them: each ends, and its
   * events are kept for the next call.
   */
  async apply(definitions: readonly AgentDefinition[] | null): Promise<void> {
    this.#slots.limit = this.#ports.activeAgents();
    if (definitions === null) return await this.#pause();
    const wanted = new Set(definitions.map(({ id }) => id));
    for (const { id } of [...this.#agents.all, ...this.#agents.paused]) {
      if (wanted.has(id)) continue;
      const running = this.#agents.find(id);
      this.#agents.remove(id);
      this.#lastUsable.delete(id);
      if (running !== undefined) await this.#end(running);
      await this.#ports.clearQueue(id);
    }
    const fresh: Supervisor[] = [];
    for (const definition of definitions) {
      const existing = this.#agents.find(definition.id);
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
    if (fresh.length > 0) this.added.emit();
  }

  async #pause(): Promise<void> {
    const ending = this.#agents.all;
    this.#agents.pauseAll();
    await Promise.all(ending.map((supervisor) => this.#end(supervisor)));
    if (this.#isStarted) await this.#schedules.follow();
  }

  async #end(supervisor: Supervisor): Promise<void> {
    await supervisor[Symbol.asyncDispose]();
    this.#retired.events += supervisor.metrics.eventsAnswered;
    this.#retired.refusals += supervisor.metrics.refusals;
  }

  /** Starts the agents and their schedules. Before this, events for them are queued. */
  async start(): Promise<void> {
    if (this.#isStarted) return;
    this.#isStarted = true;
    for (const supervisor of this.#agents.all) supervisor.start();
    await this.#schedules.follow();
  }

  /** An index run over the whole workspace ended. */
  async indexed(run: { entries: number; durationMs: number }): Promise<void> {
    this.#lastRun = run;
    await this.#show([...this.#agents.byId.keys()], run, "run");
    this.#quiet.look();
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
      othersAreQuiet: () => this.#agents.all.every((other) => other.id === definition.id || other.isQuiet),
      slots: this.#slots,
    });
    this.#agents.add(supervisor);
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
    await this.#deliveries.forgetUngranted(definition);
    const event: LaresEvent = {
      id: newId(),
      name: "PermissionChanged",
      timestamp: isoTime(this.#ports.clock.now()),
    };
    await this.#deliveries.store(deliveriesFor(definition, event, "live", this.#deliveries.routing));
    if (this.#lastRun !== null) await this.#show([definition.id], this.#lastRun, "new");
  }

  /** Delivers the index to the agents: all of it after a run, otherwise only new locations. */
  async #show(
    agents: readonly string[],
    run: { readonly durationMs: number },
    why: "run" | "new",
  ): Promise<void> {
    for (const id of agents) {
      const supervisor = this.#agents.find(id);
      const current = (): AgentDefinition | null =>
        !this.#isClosing && this.#agents.find(id) === supervisor && supervisor?.enabled === true
          ? supervisor.definition
          : null;
      await this.#deliveries.sights.show(id, current, run.durationMs, why);
    }
  }

  #makeRoom(): void {
    if (this.#slots.hasWaiters) this.#unloadLongestIdle();
  }

  #unloadLongestIdle(): void {
    const idle = this.#agents.all
      .filter((supervisor) => supervisor.idleSince !== null)
      .toSorted((a, b) => (a.idleSince ?? 0) - (b.idleSince ?? 0));
    idle[0]?.unloadIfIdle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    this.#quiet[Symbol.dispose]();
    await this.#schedules[Symbol.asyncDispose]();
    // The agents stay registered: changes that the index stores while the kernel closes are still queued for them.
    await Promise.all(this.#agents.all.map((supervisor) => supervisor[Symbol.asyncDispose]()));
  }
}
