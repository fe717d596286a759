import { createActor } from "xstate";
import type { Clock } from "../base/clock.ts";
import { isoTime } from "../base/clock.ts";
import { Emitter } from "../base/emitter.ts";
import { illegalTransition, LaresError, messageOf } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import type { Agent, AgentCommand, AgentState } from "../base/vocabulary/agent.ts";
import type { TraceLevel } from "../base/vocabulary/trace.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import { DayCounts } from "./day-counts.ts";
import { permissionParams } from "./boot.ts";
import { Conduct } from "./conduct.ts";
import { describeAgent, hasSameAuthority, needsNewGuest } from "./describe.ts";
import { lifecycleMachine, refusal, stateOf, type LifecycleActor } from "./machine.ts";
import { MetricsRecorder } from "./metrics.ts";
import type { AgentDefinition, Caller, GuestSession, SupervisorPorts } from "./ports.ts";
import { createHostCallGate, type HostCallGate } from "./host-calls.ts";
import { DeliveryLoop, stackOf } from "./delivery.ts";
import { GuestHolder } from "./guest-holder.ts";
import { RefusalLog } from "./refusal-log.ts";
import { NamedTimers } from "./timers.ts";

/** Events that are counted within this time are told of together. */
export const countedAfterMs = 1000;

/** How long a command waits for the state it leads to before it answers with the state as it is. */
export const commandTimeoutMs = 15_000;

export interface SupervisorOptions {
  readonly definition: AgentDefinition;
  readonly ports: SupervisorPorts;
  readonly clock: Clock;
  readonly idleUnloadMs: () => number;
  readonly validateHostCall: (method: string, params: unknown) => unknown;
}

/** Runs one agent: its lifecycle, its guest, its queue. Everything it does shows in its state, metrics and traces. */
export class Supervisor implements AsyncDisposable {
  readonly changed = new Emitter<Agent>();
  /** Events were counted; said once for all of a while. */
  readonly counted = new Emitter<void>();
  readonly metrics = new MetricsRecorder();
  readonly #today: DayCounts;
  #definition: AgentDefinition;
  readonly #ports: SupervisorPorts;
  readonly #clock: Clock;
  readonly #options: SupervisorOptions;
  readonly #actor: LifecycleActor;
  readonly #gate: HostCallGate;
  readonly #deliveries: DeliveryLoop;
  #state: AgentState = "Unloaded";
  #since: string;
  readonly #guest: GuestHolder;
  #openRequests = 0;
  #settledWaiters = new Set<() => void>();
  readonly #timers: NamedTimers<"idle" | "breaker" | "due" | "restart" | "counted">;
  readonly #conduct: Conduct;
  readonly #refusals: RefusalLog;
  #disposed = false;
  #wasEnabledAtClose: boolean | undefined;
  #lastActivity: number;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#definition = options.definition;
    this.#ports = options.ports;
    this.#clock = options.clock;
    this.#today = new DayCounts(this.#clock);
    this.#timers = new NamedTimers(this.#clock);
    this.#conduct = new Conduct(this.#clock);
    this.#refusals = new RefusalLog(this.#clock, (message, fields) => this.trace("warn", message, fields));
    this.#since = isoTime(this.#clock.now());
    this.#lastActivity = this.#clock.monotonic();
    this.#gate = createHostCallGate({
      services: options.ports.services,
      validate: options.validateHostCall,
      onRefusal: (_caller, method, error) => {
        this.metrics.refused();
        this.#refusals.refused(error.message, { method, ...error.facts });
      },
    });
    this.#guest = new GuestHolder({
      ports: this.#ports,
      clock: this.#clock,
      handlers: {
        call: (method, params) => this.#answer(method, params),
        notify: (method, params) => {
          this.#answer(method, params).catch((error: unknown) =>
            this.trace("warn", `${method}: ${messageOf(error)}`),
          );
        },
        stderr: (text) => this.trace("warn", text),
      },
      ask: (session, method, params) => this.#ask(session, method, params),
      isStartWanted: () => this.#state === "Initializing",
      became: {
        ready: () => {
          this.metrics.wokeUp();
          this.#actor.send({ type: "started" });
        },
        broken: (reason, error) => {
          this.#actor.send({ type: "broken", reason });
          if (error !== undefined) this.trace("error", `did not start: ${reason}`, stackOf(error));
        },
        crashed: (reason, isSandboxFault) => this.#crashed(reason, isSandboxFault),
        stopped: () => this.#actor.send({ type: "stopped" }),
      },
      onUsage: ({ cpuTimeMs, memoryBytes }) => this.metrics.usage(cpuTimeMs, memoryBytes),
      onEnd: () => this.metrics.guestEnded(),
      onFailedShutdown: (error) =>
        this.trace("error", `onShutdown failed: ${messageOf(error)}`, stackOf(error)),
    });
    this.#deliveries = new DeliveryLoop({
      queue: this.#ports.queue,
      clock: this.#clock,
      metrics: this.metrics,
      ratePerSecond: options.definition.limits.max_events_per_second,
      agent: {
        id: options.definition.id,
        canDeliver: () =>
          !this.#disposed &&
          this.enabled &&
          (this.#state === "Active" || (this.#state === "Unloaded" && !this.#timers.has("restart"))),
        session: () => (this.#state === "Active" ? this.#guest.session : null),
        maxOpenHooks: () => this.#guest.maxOpenHooks,
        wake: () => this.#actor.send({ type: "wake" }),
        ask: (session, method, params) => this.#ask(session, method, params),
        wasEndedOnPurpose: (session) => this.#guest.wasEndedOnPurpose(session),
        answered: (handler, event) => this.#count(`${handler} ${event}`),
        succeeded: () => this.#conduct.succeeded(),
        failed: (reason) => this.#pauseFor(this.#conduct.failed(reason)),
        trace: (level, message, fields, hook, traceId) => this.trace(level, message, fields, hook, traceId),
        rest: () => this.#rest(),
      },
    });
    this.#actor = createActor(lifecycleMachine, { input: { enabled: options.definition.enabled } });
    this.#actor.subscribe((snapshot) => this.#entered(stateOf(snapshot)));
    this.#actor.start();
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
    return this.#state;
  }

  get reason(): string | null {
    return this.#actor.getSnapshot().context.reason;
  }

  get enabled(): boolean {
    return this.#actor.getSnapshot().context.enabled;
  }

  /** Enabled, and so also while the kernel closes, which is no decision of a person: events go on being kept for it. */
  get isListening(): boolean {
    return this.#wasEnabledAtClose ?? this.enabled;
  }

  /** Nothing in hand: no open request, and no delivery that could be made now. */
  get isIdle(): boolean {
    const waits = this.#state === "Suspended" || this.#state === "Error" || !this.enabled;
    const settled = this.#state !== "Initializing" && this.#state !== "ShuttingDown";
    return settled && this.#openRequests === 0 && (waits || this.#ports.queue.depth(this.id) === 0);
  }

  get idleSince(): number | null {
    return this.#state === "Active" && this.#openRequests === 0 && !this.#deliveries.isRunning
      ? this.#lastActivity
      : null;
  }

  describe(): Agent {
    return describeAgent(this.#definition, {
      state: this.#state,
      reason: this.reason,
      isEnabled: this.isListening,
      since: this.#since,
      metrics: this.metrics.snapshot(this.#ports.memoryFigures(this.id)),
    });
  }

  /** How many of these events the handler answered today. */
  eventsToday(handler: string, event: string): number {
    return this.#today.get(`${handler} ${event}`);
  }

  #count(what: string): void {
    this.#today.add(what);
    if (!this.#timers.has("counted")) this.#timers.set("counted", countedAfterMs, () => this.counted.emit());
  }

  /** Begins: a faulty program is Error at once, an eager agent is loaded, any other waits for its first event. */
  start(): void {
    if (this.#definition.fault !== undefined) {
      this.#actor.send({ type: "broken", reason: this.#definition.fault });
      return;
    }
    if (this.#definition.activation === "eager") this.#actor.send({ type: "wake" });
    else this.pump();
  }

  /** A person's command; answers when the state it leads to is reached. */
  async control(command: AgentCommand): Promise<Agent> {
    const snapshot = this.#actor.getSnapshot();
    const refused = refusal(snapshot, command);
    if (refused !== null) throw illegalTransition(this.#state, refused);
    if (command === "resume" || command === "reload" || command === "enable") this.#conduct.isForgiven();
    if (command === "suspend") this.#actor.send({ type: "suspend", reason: "Suspended by a person." });
    else this.#actor.send({ type: command });
    this.trace("info", `${command} by a person`);
    await this.#settled();
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
    const goesOn = definition.fault !== undefined && this.#guest.session !== null;
    this.#definition = goesOn ? { ...definition, programDigest: before.programDigest } : definition;
    this.#deliveries.ratePerSecond = definition.limits.max_events_per_second;
    if (before.enabled !== definition.enabled) {
      const command = definition.enabled ? "enable" : "disable";
      if (refusal(this.#actor.getSnapshot(), command) === null) this.#actor.send({ type: command });
    }
    if (definition.fault !== undefined) {
      // A program that can no longer be prepared leaves the old one running: it still does what was accepted.
      if (this.#guest.session === null) this.#actor.send({ type: "broken", reason: definition.fault });
      else this.trace("error", `the changed program is not used: ${definition.fault}`);
    } else if (needsNewGuest(before, definition)) {
      if (
        refusal(this.#actor.getSnapshot(), "reload") === null &&
        (this.#guest.session !== null || this.#state !== "Unloaded")
      ) {
        this.#conduct.isForgiven();
        this.#actor.send({ type: "reload" });
      }
    } else if (
      this.#guest.session !== null &&
      this.#state === "Active" &&
      !hasSameAuthority(before, definition)
    ) {
      await this.#ask(this.#guest.session, "permissionChange", permissionParams(definition)).catch(
        (error: unknown) => this.trace("error", `onPermissionChange failed: ${messageOf(error)}`),
      );
    }
    this.#announce();
    this.pump();
  }

  /** Calls a tool, waking the agent where it sleeps. */
  async callTool(name: string, params: Record<string, unknown>, caller: string): Promise<unknown> {
    const session = await this.#awake();
    return this.#ask(session, "tool", { name, arguments: params, call_id: newId(), caller });
  }

  /** Delivers what is due, as long as there is something and the agent may take it. */
  pump(): void {
    this.#deliveries.pump();
  }

  /** Suspends it for a while, where there is a sentence to suspend it with. */
  #pauseFor(suspension: string | null): void {
    if (suspension === null) return;
    this.#actor.send({ type: "suspend", reason: suspension });
    this.#timers.set("breaker", this.#conduct.pauseMs, () => {
      if (this.#state !== "Suspended" || !this.#conduct.triesAgain()) return;
      this.trace("info", "trying again after a pause");
      this.#actor.send({ type: "resume" });
    });
  }

  async #awake(): Promise<GuestSession> {
    if (this.#state === "Unloaded" && this.enabled) this.#actor.send({ type: "wake" });
    if (this.#state === "Initializing" || this.#state === "ShuttingDown") await this.#settled();
    if (this.#state === "Unloaded" && this.enabled) {
      this.#actor.send({ type: "wake" });
      await this.#settled();
    }
    const session = this.#guest.session;
    if (this.#state !== "Active" || session === null) {
      const reason = this.reason ?? (this.enabled ? "It could not be loaded." : "It is disabled.");
      throw new LaresError("AgentError", `The agent ${this.id} is ${this.#state}: ${reason}`, {
        state: this.#state,
        reason,
      });
    }
    return session;
  }

  /** A request to the guest, counted as work in hand. */
  async #ask(session: GuestSession, method: string, params: unknown): Promise<unknown> {
    this.#openRequests += 1;
    try {
      return await session.request(method, params);
    } finally {
      this.#openRequests -= 1;
      this.#lastActivity = this.#clock.monotonic();
      if (this.#openRequests === 0) this.#watchIdleness();
    }
  }

  #entered(state: AgentState): void {
    if (state === this.#state) {
      this.#announce();
      return;
    }
    this.#state = state;
    this.#since = isoTime(this.#clock.now());
    if (state !== "Suspended") this.#timers.clear("breaker");
    if (state === "Initializing") {
      this.#timers.clear("restart");
      this.#guest
        .start(this.id, this.#definition)
        .catch((error: unknown) => this.trace("error", `could not start: ${messageOf(error)}`));
    }
    if (state === "ShuttingDown") {
      this.#timers.clear("idle");
      // A program that did not start has nothing to say goodbye with.
      this.#guest
        .stop(this.#actor.getSnapshot().context.after === "Error")
        .catch((error: unknown) => this.trace("error", `could not stop: ${messageOf(error)}`));
    }
    if (state === "Active" || state === "Unloaded") queueMicrotask(() => this.pump());
    if (state === "Suspended" || state === "Error") {
      this.trace(state === "Error" ? "error" : "warn", `${state}: ${this.reason ?? ""}`);
    }
    this.#announce();
    if (state !== "Initializing" && state !== "ShuttingDown") {
      for (const resolve of this.#settledWaiters) resolve();
      this.#settledWaiters.clear();
    }
  }

  #crashed(reason: string, isSandboxFault: boolean): void {
    const { restartAfterMs, suspension } = this.#conduct.ended(reason, isSandboxFault);
    this.trace("error", `ended: ${reason}`);
    this.#timers.set("restart", restartAfterMs, () => {
      if (this.#state === "Unloaded" && this.#definition.activation === "eager")
        this.#actor.send({ type: "wake" });
      else this.pump();
    });
    this.#actor.send({ type: "crashed" });
    this.#pauseFor(suspension);
  }

  /** In its turn, and in the name of what it is doing when it asks. */
  async #answer(method: string, params: unknown): Promise<unknown> {
    const { hook, traceId } = this.#deliveries.inHand;
    await this.#ports.takeTurn(this.id);
    return this.#gate.answer(
      {
        ...this.#caller(),
        ...(hook === undefined ? {} : { hook }),
        ...(traceId === undefined ? {} : { traceId }),
      },
      method,
      params,
    );
  }

  #caller(): Caller {
    const { id, authority, programDigest } = this.#definition;
    if (programDigest === null) throw new LaresError("AgentError", `The agent ${id} has no program.`);
    return { agent: id, authority, programDigest };
  }

  trace(
    level: TraceLevel,
    message: string,
    fields?: Record<string, unknown>,
    hook?: string,
    traceId: string = newId(),
  ): void {
    this.#ports.traces.write({
      level,
      agent: this.id,
      message,
      trace_id: traceId,
      span_id: newId(),
      ...(hook === undefined ? {} : { hook }),
      ...(fields === undefined || Object.keys(fields).length === 0 ? {} : { fields }),
    });
  }

  #announce(): void {
    if (!this.#disposed) this.changed.emit(this.describe());
  }

  /** Resolves when no transition is under way, or after `commandTimeoutMs`. */
  async #settled(): Promise<void> {
    while (this.#state === "Initializing" || this.#state === "ShuttingDown") {
      let expired = false;
      await new Promise<void>((resolve) => {
        const done = (): void => {
          timer[Symbol.dispose]();
          this.#settledWaiters.delete(done);
          resolve();
        };
        const timer = this.#clock.timer(commandTimeoutMs, () => {
          expired = true;
          done();
        });
        this.#settledWaiters.add(done);
      });
      if (expired) return;
    }
  }

  #watchIdleness(): void {
    this.#timers.clear("idle");
    if (this.#state !== "Active" || this.#openRequests > 0 || this.#deliveries.isRunning) return;
    this.#timers.set("idle", this.#options.idleUnloadMs(), () => this.unloadIfIdle());
  }

  /** Lets the guest go when nothing is in hand; its memory is in the journal, the next event wakes it. */
  unloadIfIdle(): void {
    if (this.idleSince === null || this.#ports.queue.depth(this.id) > 0) return;
    this.#actor.send({ type: "idle" });
  }

  /** The loop has nothing to hand over: sets the clock for the next delivery, or for unloading. */
  #rest(): void {
    this.#watchIdleness();
    const dueAt = this.#ports.queue.nextDueAt(this.id);
    this.#timers.clear("due");
    if (dueAt === null || this.#disposed || this.#state === "Suspended" || this.#state === "Error") return;
    this.#timers.set("due", Math.max(0, dueAt - this.#clock.now()), () => this.pump());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#wasEnabledAtClose ??= this.enabled;
    if (refusal(this.#actor.getSnapshot(), "disable") === null) this.#actor.send({ type: "disable" });
    await this.#settled();
    this.#disposed = true;
    this.#timers[Symbol.dispose]();
    this.#refusals[Symbol.dispose]();
    await this.#guest.session?.kill();
    this.#actor.stop();
  }
}
