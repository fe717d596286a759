import type { Clock } from "../../base/clock.ts";
import { Emitter } from "../../base/emitter.ts";
import { messageOf, requestCancelled } from "../../base/errors.ts";
import type { Agent, AgentState } from "../../base/vocabulary/agent.ts";
import { decideHearing } from "../../policy/hearing.ts";
import { HostCalls } from "../calls/host-calls.ts";
import { GuestBlobs } from "../calls/guest-blobs.ts";
import { Inspector } from "../calls/inspector.ts";
import { OpenCalls } from "../calls/open-calls.ts";
import { Questions } from "../calls/questions.ts";
import { ToolCalls } from "../calls/tool-calls.ts";
import { traceWriter, type WriteTrace } from "../trace-writer.ts";
import { hookOf } from "../day-counts.ts";
import { stackOf } from "../delivery/delivery.ts";
import { type AgentHealth, describeAgent, healthOf } from "../describe.ts";
import { MetricsRecorder } from "../metrics.ts";
import type { AgentDefinition, AgentSession, SupervisorPorts } from "../ports.ts";
import { NamedTimers } from "../timers.ts";
import { awaken } from "./awaken.ts";
import { BodyHolder } from "./body-holder.ts";
import { Failures } from "./failures.ts";
import { IdleTracker } from "./idle-tracker.ts";
import { Lifecycle } from "./lifecycle.ts";
import { Recovery } from "./recovery.ts";
import type { AgentSlots } from "../slots.ts";
import { Reports } from "./reports.ts";
import { Requests } from "./requests.ts";
import { Workload } from "./workload.ts";

export interface SupervisorOptions {
  readonly definition: AgentDefinition;
  readonly ports: SupervisorPorts;
  readonly clock: Clock;
  readonly idleUnloadMs: () => number;
  /** It has no open work for now. */
  readonly rested?: () => void;
  /** Returns true if no other agent has open work. If absent, there is no other agent. */
  readonly othersAreQuiet?: () => boolean;
  /** The places of all agents; absent for an agent that runs alone. */
  readonly slots?: Pick<AgentSlots, "hasWaiters" | "isCrowded" | "admit">;
}

/** The parts of one agent, and their reactions to each state of its lifecycle and to the end of its work. */
export class AgentParts implements AsyncDisposable {
  /** The definition in force; whoever replaces it updates the parts. */
  definition: AgentDefinition;
  readonly changed = new Emitter<Agent>();
  readonly metrics = new MetricsRecorder();
  readonly trace: WriteTrace;
  readonly life: Lifecycle;
  readonly work: Workload;
  readonly body: BodyHolder;
  readonly stay: IdleTracker;
  readonly reports: Reports;
  readonly recovery: Recovery;
  readonly requests: Requests;
  readonly toolCalls: ToolCalls;
  readonly questions: Questions;
  readonly failures: Failures;
  readonly open = new OpenCalls();
  readonly #blobs = new GuestBlobs();
  readonly #options: SupervisorOptions;
  readonly #ports: SupervisorPorts;
  readonly #clock: Clock;
  readonly calls: HostCalls;
  readonly #timers: NamedTimers<"due">;
  #disposed = false;
  #wasEnabledAtClose: boolean | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.definition = options.definition;
    this.#ports = options.ports;
    this.trace = traceWriter(options.ports.traces, options.definition.id);
    this.#clock = options.clock;
    this.#timers = new NamedTimers(this.#clock);
    this.reports = new Reports({
      id: options.definition.id,
      clock: this.#clock,
      describe: () => this.describe(),
      trace: this.trace,
    });
    this.failures = new Failures(this.#clock, () => this.reports.failuresChanged());
    this.stay = new IdleTracker({
      clock: this.#clock,
      idleUnloadMs: options.idleUnloadMs,
      isActive: () => this.life.state === "Active",
      isDelivering: () => this.work.isDelivering,
      isAtWork: () => this.work.isAtWork || this.work.hasEvents || this.work.hasJobsNow,
      isPlaceWanted: () =>
        options.slots !== undefined && (options.slots.hasWaiters || options.slots.isCrowded),
      isCrowded: () => options.slots?.isCrowded ?? false,
      called: () => options.slots?.admit(),
      rested: () => {
        this.#blobs.clear();
        options.rested?.();
      },
      unload: () => this.life.send({ type: "unload" }),
    });
    this.recovery = new Recovery({
      clock: this.#clock,
      state: () => this.life.state,
      suspend: (reason) => this.life.send({ type: "suspend", reason }),
      resume: () => this.life.send({ type: "resume" }),
      crashed: () => this.life.send({ type: "crashed" }),
      restart: () => {
        if (this.life.state === "Unloaded" && this.definition.activation === "eager")
          this.life.send({ type: "wake" });
        else this.work.pump();
      },
      trace: this.trace,
    });
    const inspector = new Inspector({
      clock: this.#clock,
      isInspected: () => this.#ports.isInspected?.(this.id) ?? false,
      trace: this.trace,
    });
    this.requests = new Requests({
      inspector,
      failures: this.failures,
      inHand: (work) => this.stay.request(work),
      isCancellingJob: () => this.work.jobs.running?.state === "Cancelling",
      wasEndedOnPurpose: (session) => this.body.wasEndedOnPurpose(session),
    });
    const callPorts = {
      clock: this.#clock,
      open: this.open,
      awake: () => this.awake(),
      ask: (session: AgentSession, method: string, params: unknown) =>
        this.requests.ask(session, method, params),
      cancelsTools: () => this.body.abilities.cancelsTools,
      trace: this.trace,
    };
    this.toolCalls = new ToolCalls({
      ...callPorts,
      agent: options.definition.id,
      propose: async (params, cancelled) =>
        (await this.calls.call("actions/propose", params, cancelled)) as { id: string; state: string },
    });
    this.questions = new Questions(callPorts);
    this.calls = new HostCalls({
      ports: this.#ports,
      clock: this.#clock,
      metrics: this.metrics,
      trace: this.trace,
      inspector,
      definition: () => this.definition,
      inHand: () => this.work.inHand,
      open: this.open,
      blobs: this.#blobs,
      guest: () => this.body.session,
    });
    this.body = new BodyHolder({
      ports: this.#ports,
      clock: this.#clock,
      handlers: this.calls,
      ask: (session, method, params) => this.requests.ask(session, method, params),
      isStartWanted: () => this.life.state === "Initializing",
      became: {
        ready: () => {
          this.metrics.wokeUp();
          this.life.send({ type: "started" });
        },
        broken: (reason, error) => {
          this.life.send({ type: "broken", reason });
          if (error !== undefined) this.trace("error", `did not start: ${reason}`, stackOf(error));
        },
        crashed: (reason, isSandboxFault) => this.recovery.crashed(reason, isSandboxFault),
        stopped: () => this.life.send({ type: "stopped" }),
      },
      onUsage: ({ cpuTimeMs, memoryBytes }) => this.metrics.usage(cpuTimeMs, memoryBytes),
      onEnd: (reason) => {
        this.open.guestEnded(requestCancelled(`The agent has ended. ${reason}`));
        this.#blobs.clear();
        this.metrics.guestEnded();
      },
      onFailedShutdown: (error) =>
        this.trace("error", `onShutdown failed: ${messageOf(error)}`, stackOf(error)),
    });
    this.work = new Workload({
      ports: this.#ports,
      clock: this.#clock,
      metrics: this.metrics,
      ratePerSecond: options.definition.limits.max_events_per_second,
      tasksAtOnce: options.definition.concurrency,
      agent: {
        id: options.definition.id,
        canDeliver: () =>
          !this.#disposed &&
          this.life.enabled &&
          (this.life.state === "Active" || (this.life.state === "Unloaded" && !this.recovery.isPausing)),
        session: () => (this.life.state === "Active" ? this.body.session : null),
        // One by one, so that each host call belongs to the event before it.
        maxOpenHooks: () => (inspector.isOn ? 1 : this.body.abilities.maxOpenHooks),
        jobNames: () => this.body.abilities.jobs,
        taskNames: () => this.body.abilities.tasks,
        mayRunJobs: () => this.definition.authority.effective.dispatch_jobs === true,
        isStillQuiet: () => this.isQuiet && (options.othersAreQuiet?.() ?? true),
        jobsChanged: () => this.reports.jobsHaveChanged(),
        mayLeave: (session) => this.#makeRoom(session),
        endGuest: (session) => this.#unload(session),
        open: this.open,
        wake: () => this.life.send({ type: "wake" }),
        ask: (session, method, params) => this.requests.ask(session, method, params),
        wasEndedOnPurpose: (session) => this.body.wasEndedOnPurpose(session),
        hear: (foreign) => this.open.hear(foreign),
        asHeard: (event, handler) => {
          if (!this.definition.hooks.some((hook) => hook.handler === handler)) {
            this.reports.missed(event.name, "dropped", `its manifest has no hook for ${handler} any more`);
            return null;
          }
          const hearing = decideHearing(this.definition.authority, event, this.#ports);
          if (hearing.heard) return hearing.event;
          this.reports.missed(event.name, "withheld", hearing.reason);
          return null;
        },
        answered: (handler, event) => {
          this.#ports.dayCounts.add(this.id, hookOf(handler, event));
          this.reports.hasCounted();
        },
        succeeded: () => this.recovery.succeeded(),
        failed: (reason) => this.recovery.failed(reason),
        ran: (schedule, error) => this.#ports.ran(this.id, schedule, error),
        trace: this.trace,
        rest: () => this.#rest(),
      },
    });
    this.life = new Lifecycle({
      clock: this.#clock,
      enabled: options.definition.enabled,
      entered: (state, isSame) => (isSame ? this.announce() : this.#entered(state)),
    });
    this.life.start();
  }

  get id(): string {
    return this.definition.id;
  }

  /** Loads the agent if necessary and returns its session. Throws AgentError if it cannot run. */
  awake(): Promise<AgentSession> {
    return awaken(this.id, this.life, () => this.body.session);
  }

  /** True if enabled, also while the kernel closes, which is not a user's decision: events are still queued. */
  get isListening(): boolean {
    return this.#wasEnabledAtClose ?? this.life.enabled;
  }

  /** True if nothing is open: no request, no delivery that could be made now, and no job. */
  get isIdle(): boolean {
    return this.#hasNothingOpen && (this.waits || this.work.isDone);
  }

  /** True if nothing is open except jobs that wait for idle time. */
  get isQuiet(): boolean {
    return this.#hasNothingOpen && (this.waits || this.work.isQuiet);
  }

  get #hasNothingOpen(): boolean {
    return !this.life.isUnderWay && this.stay.hasNothingOpen;
  }

  /** Waits for the user, or for the end of a pause. */
  get waits(): boolean {
    const { state } = this.life;
    return state === "Suspended" || state === "Error" || !this.life.enabled;
  }

  describe(): Agent {
    return describeAgent(this.definition, {
      state: this.life.state,
      reason: this.life.reason,
      isEnabled: this.isListening,
      since: this.life.since,
      lastFailure: this.failures.last,
      suspension: (hook) => this.#ports.suspension(this.id, hook),
      metrics: this.metrics.snapshot(this.#ports.memoryFigures(this.id), this.#ports.dayCounts.get(this.id)),
    });
  }

  health(): AgentHealth {
    return healthOf(this.definition, {
      state: this.life.state,
      since: this.life.since,
      isEnabled: this.isListening,
      isFailing: this.failures.last !== undefined,
      failed: this.metrics.failed,
      suspension: (hook) => this.#ports.suspension(this.id, hook),
    });
  }

  #entered(state: AgentState): void {
    this.recovery.entered(state);
    if (state === "Initializing") {
      this.body
        .start(this.id, this.definition)
        .catch((error: unknown) => this.trace("error", `could not start: ${messageOf(error)}`));
    }
    if (state === "ShuttingDown") {
      this.stay.ended();
      // A program that did not start does not need a shutdown request.
      this.body
        .stop(this.life.endsInError)
        .catch((error: unknown) => this.trace("error", `could not stop: ${messageOf(error)}`));
    }
    if (state === "Active") this.stay.began();
    if (state === "Active" || state === "Unloaded") queueMicrotask(() => this.work.pump());
    if (state === "Suspended" || state === "Error") {
      this.reports.trouble(state, this.life.reason ?? "", this.definition);
    }
    this.announce();
    // Jobs that wait for idle time no longer wait for an agent that was starting.
    if (!this.life.isUnderWay) this.#options.rested?.();
  }

  announce(): void {
    if (!this.#disposed) this.changed.emit(this.describe());
  }

  /** Gives its place to a waiting agent if only a job is open and its turn is over; then queues again. */
  #makeRoom(session: AgentSession): void {
    if (!this.stay.mayMakeRoom(this.work.jobs.inHand === undefined ? 0 : 1)) return;
    this.trace("debug", "makes room for an agent that waits, and continues when it has a place again");
    this.#unload(session);
  }

  #unload(session: AgentSession): void {
    if (this.life.state === "Active" && this.body.session === session) this.life.send({ type: "unload" });
  }

  /** A loop has nothing to do: sets the timer for the next due work, or for unloading. */
  #rest(): void {
    this.stay.watch();
    this.#timers.clear("due");
    this.#options.rested?.();
    if (this.#disposed || this.life.state === "Suspended" || this.life.state === "Error") return;
    const dueAt = this.work.nextDueAt;
    if (dueAt !== null)
      this.#timers.set("due", Math.max(0, dueAt - this.#clock.now()), () => this.work.pump());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#wasEnabledAtClose ??= this.life.enabled;
    if (this.life.refusal("disable") === null) this.life.send({ type: "disable" });
    await this.life.settled();
    this.#disposed = true;
    this.#timers[Symbol.dispose]();
    this.recovery[Symbol.dispose]();
    this.stay[Symbol.dispose]();
    this.calls[Symbol.dispose]();
    this.reports[Symbol.dispose]();
    await this.body.session?.kill();
    this.life.stop();
  }
}
