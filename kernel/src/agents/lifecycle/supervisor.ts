import type { Clock } from "../../base/clock.ts";
import { Emitter } from "../../base/emitter.ts";
import { illegalTransition, messageOf, requestCancelled } from "../../base/errors.ts";
import type { Agent, AgentCommand, AgentState } from "../../base/vocabulary/agent.ts";
import type { Authority } from "../../base/vocabulary/permissions.ts";
import { decideHearing } from "../../policy/hearing.ts";
import { awaken } from "./awaken.ts";
import { permissionParams } from "./boot.ts";
import { hookOf } from "../day-counts.ts";
import { Failures } from "./failures.ts";
import { Recovery } from "./recovery.ts";
import { Reports } from "./reports.ts";
import { Requests } from "./requests.ts";
import { describeAgent, followUp } from "../describe.ts";
import { Lifecycle } from "./lifecycle.ts";
import { MetricsRecorder } from "../metrics.ts";
import { actorWords, lineageUnder, type Principal } from "../../base/vocabulary/principal.ts";
import type { ToolProgress } from "../../base/vocabulary/progress.ts";
import type { AgentDefinition, AgentSession, SupervisorPorts, ToolCallOptions } from "../ports.ts";
import { HostCalls } from "../calls/host-calls.ts";
import { stackOf } from "../delivery/delivery.ts";
import { BodyHolder } from "./body-holder.ts";
import type { JobLoop } from "../running-jobs/job-loop.ts";
import { IdleTracker } from "./idle-tracker.ts";
import { OpenCalls } from "../calls/open-calls.ts";
import { ToolCalls } from "../calls/tool-calls.ts";
import { NamedTimers } from "../timers.ts";
import { traceWriter, type WriteTrace } from "../calls/trace-writer.ts";
import { Workload } from "./workload.ts";

export interface SupervisorOptions {
  readonly definition: AgentDefinition;
  readonly ports: SupervisorPorts;
  readonly clock: Clock;
  readonly idleUnloadMs: () => number;
  /** It has nothing in hand for now. */
  readonly rested?: () => void;
  /** No other agent has anything in hand; where it is not said, there is no other. */
  readonly othersAreQuiet?: () => boolean;
  /** Another agent waits for a place. */
  readonly isPlaceWanted?: () => boolean;
}

/** Runs one agent: its lifecycle, its guest, its queue. Everything it does shows in its state, metrics and traces. */
export class Supervisor implements AsyncDisposable {
  readonly changed = new Emitter<Agent>();
  readonly metrics = new MetricsRecorder();
  readonly trace: WriteTrace;
  #definition: AgentDefinition;
  readonly #ports: SupervisorPorts;
  readonly #clock: Clock;
  readonly #options: SupervisorOptions;
  readonly #life: Lifecycle;
  readonly #work: Workload;
  readonly #guest: BodyHolder;
  readonly #stay: IdleTracker;
  readonly #timers: NamedTimers<"due">;
  readonly #reports: Reports;
  readonly #recovery: Recovery;
  readonly #requests: Requests;
  readonly #toolCalls: ToolCalls;
  readonly #failures: Failures;
  readonly #open = new OpenCalls();
  readonly #calls: HostCalls;
  #disposed = false;
  #wasEnabledAtClose: boolean | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#definition = options.definition;
    this.#ports = options.ports;
    this.trace = traceWriter(options.ports.traces, options.definition.id);
    this.#clock = options.clock;
    this.#timers = new NamedTimers(this.#clock);
    this.#reports = new Reports({
      id: options.definition.id,
      clock: this.#clock,
      describe: () => this.describe(),
      trace: this.trace,
    });
    this.#failures = new Failures(this.#clock, () => this.#reports.failuresChanged());
    this.#stay = new IdleTracker({
      clock: this.#clock,
      idleUnloadMs: options.idleUnloadMs,
      isActive: () => this.#life.state === "Active",
      isDelivering: () => this.#work.isDelivering,
      isAtWork: () => this.#work.isAtWork || this.#work.hasEvents || this.#work.hasJobsNow,
      isPlaceWanted: () => options.isPlaceWanted?.() ?? false,
      rested: () => options.rested?.(),
      unload: () => this.#life.send({ type: "unload" }),
    });
    this.#recovery = new Recovery({
      clock: this.#clock,
      state: () => this.#life.state,
      suspend: (reason) => this.#life.send({ type: "suspend", reason }),
      resume: () => this.#life.send({ type: "resume" }),
      crashed: () => this.#life.send({ type: "crashed" }),
      restart: () => {
        if (this.#life.state === "Unloaded" && this.#definition.activation === "eager")
          this.#life.send({ type: "wake" });
        else this.pump();
      },
      trace: this.trace,
    });
    this.#requests = new Requests({
      failures: this.#failures,
      inHand: (work) => this.#stay.request(work),
      isCancellingJob: () => this.jobs.running?.state === "Cancelling",
      wasEndedOnPurpose: (session) => this.#guest.wasEndedOnPurpose(session),
    });
    this.#toolCalls = new ToolCalls({
      clock: this.#clock,
      open: this.#open,
      awake: () => awaken(this.id, this.#life, () => this.#guest.session),
      ask: (session, method, params) => this.#requests.ask(session, method, params),
      cancelsTools: () => this.#guest.abilities.cancelsTools,
      trace: this.trace,
    });
    this.#calls = new HostCalls({
      ports: this.#ports,
      clock: this.#clock,
      metrics: this.metrics,
      trace: this.trace,
      definition: () => this.#definition,
      inHand: () => this.#work.inHand,
      open: this.#open,
      guest: () => this.#guest.session,
    });
    this.#guest = new BodyHolder({
      ports: this.#ports,
      clock: this.#clock,
      handlers: this.#calls,
      ask: (session, method, params) => this.#requests.ask(session, method, params),
      isStartWanted: () => this.#life.state === "Initializing",
      became: {
        ready: () => {
          this.metrics.wokeUp();
          this.#life.send({ type: "started" });
        },
        broken: (reason, error) => {
          this.#life.send({ type: "broken", reason });
          if (error !== undefined) this.trace("error", `did not start: ${reason}`, stackOf(error));
        },
        crashed: (reason, isSandboxFault) => this.#recovery.crashed(reason, isSandboxFault),
        stopped: () => this.#life.send({ type: "stopped" }),
      },
      onUsage: ({ cpuTimeMs, memoryBytes }) => this.metrics.usage(cpuTimeMs, memoryBytes),
      onEnd: (reason) => {
        this.#open.guestEnded(requestCancelled(`The agent has ended. ${reason}`));
        this.metrics.guestEnded();
      },
      onFailedShutdown: (error) =>
        this.trace("error", `onShutdown failed: ${messageOf(error)}`, stackOf(error)),
    });
    this.#work = new Workload({
      ports: this.#ports,
      clock: this.#clock,
      metrics: this.metrics,
      ratePerSecond: options.definition.limits.max_events_per_second,
      agent: {
        id: options.definition.id,
        canDeliver: () =>
          !this.#disposed &&
          this.enabled &&
          (this.#life.state === "Active" || (this.#life.state === "Unloaded" && !this.#recovery.isPausing)),
        session: () => (this.#life.state === "Active" ? this.#guest.session : null),
        maxOpenHooks: () => this.#guest.abilities.maxOpenHooks,
        jobNames: () => this.#guest.abilities.jobs,
        mayRunJobs: () => this.authority.effective.dispatch_jobs === true,
        isStillQuiet: () => this.isQuiet && (options.othersAreQuiet?.() ?? true),
        jobsChanged: () => this.#reports.jobsHaveChanged(),
        mayLeave: (session) => this.#makeRoom(session),
        endGuest: (session) => this.#unload(session),
        open: this.#open,
        wake: () => this.#life.send({ type: "wake" }),
        ask: (session, method, params) => this.#requests.ask(session, method, params),
        wasEndedOnPurpose: (session) => this.#guest.wasEndedOnPurpose(session),
        asHeard: (event) => {
          const hearing = decideHearing(this.authority, event, this.#ports);
          if (hearing.heard) return hearing.event;
          this.withheld(event.name, hearing.reason);
          return null;
        },
        answered: (handler, event) => {
          this.#ports.dayCounts.add(this.id, hookOf(handler, event));
          this.#reports.hasCounted();
        },
        succeeded: () => this.#recovery.succeeded(),
        failed: (reason) => this.#recovery.failed(reason),
        trace: this.trace,
        rest: () => this.#rest(),
      },
    });
    this.#life = new Lifecycle({
      clock: this.#clock,
      enabled: options.definition.enabled,
      entered: (state, isSame) => (isSame ? this.#announce() : this.#entered(state)),
    });
    this.#life.start();
  }

  get counted(): Reports["counted"] {
    return this.#reports.counted;
  }

  get jobsChanged(): Reports["jobsChanged"] {
    return this.#reports.jobsChanged;
  }

  get id(): string {
    return this.#definition.id;
  }

  get definition(): AgentDefinition {
    return this.#definition;
  }

  get authority(): Authority {
    return this.#definition.authority;
  }

  get state(): AgentState {
    return this.#life.state;
  }

  get reason(): string | null {
    return this.#life.reason;
  }

  get enabled(): boolean {
    return this.#life.enabled;
  }

  /** Enabled, and so also while the kernel closes, which is no decision of a person: events go on being kept for it. */
  get isListening(): boolean {
    return this.#wasEnabledAtClose ?? this.enabled;
  }

  get jobs(): JobLoop {
    return this.#work.jobs;
  }

  /** Nothing in hand: no open request, no delivery that could be made now, and no job. */
  get isIdle(): boolean {
    return this.#hasNothingOpen && (this.#waits || this.#work.isDone);
  }

  /** Nothing in hand, but for jobs that wait for just that. */
  get isQuiet(): boolean {
    return this.#hasNothingOpen && (this.#waits || this.#work.isQuiet);
  }

  get #hasNothingOpen(): boolean {
    return !this.#life.isUnderWay && this.#stay.hasNothingOpen;
  }

  /** For a person, or for a pause to be over. */
  get #waits(): boolean {
    const { state } = this.#life;
    return state === "Suspended" || state === "Error" || !this.enabled;
  }

  /** In monotonic milliseconds. */
  get lastActivity(): number {
    return this.#stay.lastActivity;
  }

  /** In monotonic milliseconds; null where it does something, or would at once. */
  get idleSince(): number | null {
    return this.#stay.idleSince;
  }

  describe(): Agent {
    return describeAgent(this.#definition, {
      state: this.#life.state,
      reason: this.reason,
      isEnabled: this.isListening,
      since: this.#life.since,
      lastFailure: this.#failures.last,
      metrics: this.metrics.snapshot(this.#ports.memoryFigures(this.id), this.#ports.dayCounts.get(this.id)),
    });
  }

  /** Notes in the agent's traces that it was not told of an event. */
  withheld(event: string, reason: string): void {
    this.#reports.missed(event, "withheld", reason);
  }

  /** Notes in the agent's traces that an event had no room in its queue. */
  dropped(event: string, reason: string): void {
    this.#reports.missed(event, "dropped", reason);
  }

  /** Says again what is counted: of a new day, nothing yet. */
  dayTurned(): void {
    this.#reports.tellCounts();
  }

  /** Begins: a faulty program is Error at once, an eager agent is loaded, any other waits for its first event. */
  start(): void {
    if (this.#definition.fault !== undefined) {
      this.#life.send({ type: "broken", reason: this.#definition.fault });
      return;
    }
    if (this.#definition.activation === "eager") this.#life.send({ type: "wake" });
    else this.pump();
  }

  /** A command of `by`; answers when the state it leads to is reached. */
  async control(by: Principal, command: AgentCommand): Promise<Agent> {
    // What is on its way is soon something else, and by itself: a command that it cannot take is for that.
    if (this.#life.refusal(command) !== null && this.#life.isUnderWay) await this.#life.settled();
    const refused = this.#life.refusal(command);
    if (refused !== null) throw illegalTransition(this.#life.state, refused);
    if (command === "resume" || command === "reload" || command === "enable") this.#recovery.isForgiven();
    if (command === "suspend")
      this.#life.send({ type: "suspend", reason: `Suspended by ${actorWords(by)}.` });
    else this.#life.send({ type: command });
    const { onBehalfOf } = lineageUnder(by);
    this.trace("info", `${command} by ${actorWords(by)}`, {}, { onBehalfOf });
    await this.#life.settled();
    if (command === "enable") this.pump();
    return this.describe();
  }

  /**
   * Takes over a changed definition. Authority counts from this moment on; a changed program or limit needs a
   * new guest, everything else goes on in the running one.
   */
  async update(definition: AgentDefinition): Promise<void> {
    const before = this.#definition;
    // The guest that goes on for want of a better one acts in the name of the program it was loaded from.
    const goesOn =
      definition.fault !== undefined &&
      definition.problems?.isUnusable !== true &&
      this.#guest.session !== null;
    this.#definition = goesOn ? { ...definition, bundleDigest: before.bundleDigest } : definition;
    this.#work.ratePerSecond = definition.limits.max_events_per_second;
    if (definition.bundleDigest !== null && definition.bundleDigest !== before.bundleDigest)
      this.#failures.clear();
    if (before.enabled !== definition.enabled) {
      const command = definition.enabled ? "enable" : "disable";
      if (this.#life.refusal(command) === null) this.#life.send({ type: command });
    }
    await this.#follow(before, definition);
    this.#announce();
    this.pump();
  }

  async #follow(before: AgentDefinition, after: AgentDefinition): Promise<void> {
    const { session } = this.#guest;
    switch (followUp(before, after, session !== null)) {
      case "break":
        this.#life.send({ type: "broken", reason: after.fault ?? "" });
        return;
      case "keep":
        this.trace("error", `the changed program is not used: ${after.fault}`);
        return;
      case "reload":
        if (this.#life.refusal("reload") !== null || (session === null && this.state === "Unloaded")) return;
        this.#recovery.isForgiven();
        this.#life.send({ type: "reload" });
        return;
      case "tell":
        if (session === null || this.state !== "Active") return;
        await this.#requests
          .ask(session, "permissionChange", permissionParams(after))
          .catch((error: unknown) => this.trace("error", `onPermissionChange failed: ${messageOf(error)}`));
        return;
      case "nothing":
    }
  }

  /**
   * Calls a tool, waking the agent where it sleeps. Awaits `begun` immediately before the guest is asked. Where the signal
   * is aborted after that, the guest is told, and its answer is still the call's.
   */
  callTool(
    name: string,
    params: Record<string, unknown>,
    principal: Principal,
    options: ToolCallOptions = {},
  ): Promise<unknown> {
    return this.#stay.call(() => this.#toolCalls.call(name, params, principal, options));
  }

  /** How far an open call of a tool is, in the words of its handler. Throws NotFound if it is not open. */
  toolProgress(call: string, progress: ToolProgress): void {
    this.#open.report(call, progress);
  }

  /** Delivers what is due and runs its jobs, as long as there is something and the agent may take it. */
  pump(): void {
    this.#work.pump();
  }

  /** When the first job may begin that waits for a quiet moment, in milliseconds since 1970; null where none does. */
  idleJobDueAt(): number | null {
    return this.#waits ? null : this.#work.jobs.nextDueAt(true);
  }

  startIdleJob(): void {
    this.#work.jobs.pump(true);
  }

  #entered(state: AgentState): void {
    this.#recovery.entered(state);
    if (state === "Initializing") {
      this.#guest
        .start(this.id, this.#definition)
        .catch((error: unknown) => this.trace("error", `could not start: ${messageOf(error)}`));
    }
    if (state === "ShuttingDown") {
      this.#stay.ended();
      // A program that did not start has nothing to say goodbye with.
      this.#guest
        .stop(this.#life.endsInError)
        .catch((error: unknown) => this.trace("error", `could not stop: ${messageOf(error)}`));
    }
    if (state === "Active") this.#stay.began();
    if (state === "Active" || state === "Unloaded") queueMicrotask(() => this.pump());
    if (state === "Suspended" || state === "Error") {
      this.#reports.trouble(state, this.reason ?? "", this.#definition);
    }
    this.#announce();
    // Who waits for all to be quiet waits no longer for one that was on its way here.
    if (!this.#life.isUnderWay) this.#options.rested?.();
  }

  #announce(): void {
    if (!this.#disposed) this.changed.emit(this.describe());
  }

  /** Lets the guest go when nothing is in hand. */
  unloadIfIdle(): void {
    this.#stay.unloadIfIdle();
  }

  /** Gives its place to who waits for one, where nothing but a job is in hand and it had its turn; then it waits itself. */
  #makeRoom(session: AgentSession): void {
    if (!this.#stay.mayMakeRoom(this.jobs.inHand === undefined ? 0 : 1)) return;
    this.trace("debug", "makes room for an agent that waits, and goes on when it has a place again");
    this.#unload(session);
  }

  #unload(session: AgentSession): void {
    if (this.#life.state === "Active" && this.#guest.session === session) this.#life.send({ type: "unload" });
  }

  /** A loop has nothing to hand over: sets the clock for what is due next, or for unloading. */
  #rest(): void {
    this.#stay.watch();
    this.#timers.clear("due");
    this.#options.rested?.();
    if (this.#disposed || this.#life.state === "Suspended" || this.#life.state === "Error") return;
    const dueAt = this.#work.nextDueAt;
    if (dueAt !== null) this.#timers.set("due", Math.max(0, dueAt - this.#clock.now()), () => this.pump());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#wasEnabledAtClose ??= this.enabled;
    if (this.#life.refusal("disable") === null) this.#life.send({ type: "disable" });
    await this.#life.settled();
    this.#disposed = true;
    this.#timers[Symbol.dispose]();
    this.#recovery[Symbol.dispose]();
    this.#stay[Symbol.dispose]();
    this.#calls[Symbol.dispose]();
    this.#reports[Symbol.dispose]();
    await this.#guest.session?.kill();
    this.#life.stop();
  }
}
