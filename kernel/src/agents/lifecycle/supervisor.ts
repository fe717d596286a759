import type { Emitter } from "../../base/emitter.ts";
import { illegalTransition, LaresError, messageOf, requestCancelled } from "../../base/errors.ts";
import type { Agent, AgentCommand, AgentState } from "../../base/vocabulary/agent.ts";
import type { Foreign, ReadTexts } from "../../base/vocabulary/foreign.ts";
import type { NamedAction } from "../../base/vocabulary/named-action.ts";
import type { LaresEvent } from "../../base/vocabulary/event.ts";
import type { Authority } from "../../base/vocabulary/permissions.ts";
import {
  actorWords,
  type Lineage,
  lineageUnder,
  type Principal,
  type PersonOrProcess,
  type ProcessPrincipal,
} from "../../base/vocabulary/principal.ts";
import type { ToolProgress } from "../../base/vocabulary/progress.ts";
import type { WriteTrace } from "../trace-writer.ts";
import { type AgentHealth, followUp } from "../describe.ts";
import type { MetricsRecorder } from "../metrics.ts";
import type { AgentDefinition, ProcessCallOptions, ToolCallOptions } from "../ports.ts";
import type { StoppedWork } from "../stopped-work.ts";
import type { JobLoop } from "../running-jobs/job-loop.ts";
import type { JobTaskRunner } from "../running-jobs/job-tasks.ts";
import { AgentParts, type SupervisorOptions } from "./agent-parts.ts";
import { permissionParams } from "./boot.ts";
import type { Reports } from "./reports.ts";

/** Runs one agent: its lifecycle, guest and queue. Reports its work through state, metrics and traces. */
export class Supervisor implements AsyncDisposable {
  readonly #parts: AgentParts;

  constructor(options: SupervisorOptions) {
    this.#parts = new AgentParts(options);
  }

  get changed(): Emitter<Agent> {
    return this.#parts.changed;
  }

  get metrics(): MetricsRecorder {
    return this.#parts.metrics;
  }

  get trace(): WriteTrace {
    return this.#parts.trace;
  }

  get counted(): Reports["counted"] {
    return this.#parts.reports.counted;
  }

  get jobsChanged(): Reports["jobsChanged"] {
    return this.#parts.reports.jobsChanged;
  }

  get id(): string {
    return this.#parts.definition.id;
  }

  get definition(): AgentDefinition {
    return this.#parts.definition;
  }

  get authority(): Authority {
    return this.#parts.definition.authority;
  }

  get state(): AgentState {
    return this.#parts.life.state;
  }

  get reason(): string | null {
    return this.#parts.life.reason;
  }

  get enabled(): boolean {
    return this.#parts.life.enabled;
  }

  /** Texts that nobody vouches for and that its guest has read since it was started. */
  get foreign(): Foreign {
    return this.#parts.open.foreign;
  }

  /** Records that the guest is about to read these texts. Returns everything that it has read. */
  hear(foreign: Foreign): ReadTexts {
    this.#parts.open.hear(foreign);
    return this.#parts.open.read;
  }

  /** True if enabled, also while the kernel closes, which is not a user's decision: events are still queued. */
  get isListening(): boolean {
    return this.#parts.isListening;
  }

  get jobs(): JobLoop {
    return this.#parts.work.jobs;
  }

  get tasks(): JobTaskRunner {
    return this.#parts.work.tasks;
  }

  /** True if nothing is open: no request, no delivery that could be made now, and no job. */
  get isIdle(): boolean {
    return this.#parts.isIdle;
  }

  /** True if nothing is open except jobs that wait for idle time. */
  get isQuiet(): boolean {
    return this.#parts.isQuiet;
  }

  /** Reports the agent to clients, because something that they show has changed. */
  announce(): void {
    this.#parts.announce();
  }

  describe(): Agent {
    return this.#parts.describe();
  }

  health(): AgentHealth {
    return this.#parts.health();
  }

  /** In monotonic milliseconds. */
  get lastActivity(): number {
    return this.#parts.stay.lastActivity;
  }

  /** Somebody waits for its answer. */
  get isAwaited(): boolean {
    return this.#parts.stay.isAwaited;
  }

  /** In monotonic milliseconds; null while it has work, or would have it immediately. */
  get idleSince(): number | null {
    return this.#parts.stay.idleSince;
  }

  /** Writes to the agent's traces that it did not receive an event. */
  withheld(event: string, reason: string): void {
    this.#parts.reports.missed(event, "withheld", reason);
  }

  /** Writes to the agent's traces that an event did not fit into its queue. */
  dropped(event: string, reason: string): void {
    this.#parts.reports.missed(event, "dropped", reason);
  }

  /** Reports the counts again for a new day, at zero. */
  dayTurned(): void {
    this.#parts.reports.tellCounts();
  }

  /**
   * Starts: an agent with an invalid program enters Error, an eager agent is loaded, any other waits for its first
   * event.
   */
  start(): void {
    if (this.#parts.definition.fault !== undefined) {
      this.#parts.life.send({ type: "broken", reason: this.#parts.definition.fault });
      return;
    }
    if (this.#parts.definition.activation === "eager") this.#parts.life.send({ type: "wake" });
    else this.pump();
  }

  /** Takes the agent to Error: data that it requires is damaged, and a retry does not help. */
  break(reason: string): void {
    this.#parts.life.send({ type: "broken", reason });
  }

  /** Runs a command of `by`; resolves when its target state is reached. */
  async control(by: Principal, command: AgentCommand): Promise<Agent> {
    // A transitional state ends by itself: a command that is not legal in it applies to the next state.
    if (this.#parts.life.refusal(command) !== null && this.#parts.life.isUnderWay)
      await this.#parts.life.settled();
    const refused = this.#parts.life.refusal(command);
    if (refused !== null) throw illegalTransition(this.#parts.life.state, refused);
    if (command === "resume" || command === "reload" || command === "enable")
      this.#parts.recovery.isForgiven();
    if (command === "suspend")
      this.#parts.life.send({ type: "suspend", reason: `Suspended by ${actorWords(by)}.` });
    else this.#parts.life.send({ type: command });
    const { onBehalfOf } = lineageUnder(by);
    this.trace("info", `${command} by ${actorWords(by)}`, {}, { onBehalfOf });
    await this.#parts.life.settled();
    if (command === "enable") this.pump();
    return this.describe();
  }

  /**
   * Applies a changed definition. Permissions change immediately; a changed program or limit needs a new guest;
   * everything else applies to the running one.
   */
  async update(definition: AgentDefinition): Promise<void> {
    const before = this.#parts.definition;
    // A guest that continues because the new program is invalid acts in the name of its own program.
    const keepsGuest =
      definition.fault !== undefined &&
      definition.problems?.isUnusable !== true &&
      this.#parts.body.session !== null;
    this.#parts.definition = keepsGuest ? { ...definition, bundleDigest: before.bundleDigest } : definition;
    this.#parts.work.ratePerSecond = definition.limits.max_events_per_second;
    this.#parts.work.tasks.atOnce = definition.concurrency;
    if (definition.bundleDigest !== null && definition.bundleDigest !== before.bundleDigest)
      this.#parts.failures.clear();
    if (before.enabled !== definition.enabled) {
      const command = definition.enabled ? "enable" : "disable";
      if (this.#parts.life.refusal(command) === null) this.#parts.life.send({ type: command });
    }
    await this.#follow(before, definition);
    this.#parts.announce();
    this.pump();
  }

  async #follow(before: AgentDefinition, after: AgentDefinition): Promise<void> {
    const { session } = this.#parts.body;
    switch (followUp(before, after, session !== null)) {
      case "break":
        this.#parts.life.send({ type: "broken", reason: after.fault ?? "" });
        return;
      case "keep":
        this.trace("error", `the changed program is not used: ${after.fault}`);
        return;
      case "reload":
        if (this.#parts.life.refusal("reload") !== null || (session === null && this.state === "Unloaded"))
          return;
        this.#parts.recovery.isForgiven();
        this.#parts.life.send({ type: "reload" });
        return;
      case "tell":
        if (session === null || this.state !== "Active") return;
        await this.#parts.requests
          .ask(session, "permissionChange", permissionParams(after))
          .catch((error: unknown) => this.trace("error", `onPermissionChange failed: ${messageOf(error)}`));
        return;
      case "nothing":
    }
  }

  /**
   * Calls a tool and wakes the agent if it is unloaded. Awaits `begun` immediately before sending the request. If
   * the signal is aborted after that, the guest is told, and its answer still ends the call.
   */
  callTool(
    name: string,
    params: Record<string, unknown>,
    principal: Principal,
    options: ToolCallOptions = {},
  ): Promise<unknown> {
    return this.#parts.stay.call(() => this.#parts.toolCalls.call(name, params, principal, options));
  }

  /** Calls the handler of a named action as `callTool` calls a tool; see `ToolCalls.callAction`. */
  callAction(
    action: NamedAction,
    params: Record<string, unknown>,
    principal: Principal,
    options: ToolCallOptions = {},
  ): Promise<unknown> {
    return this.#parts.stay.call(() => this.#parts.toolCalls.callAction(action, params, principal, options));
  }

  /** Asks a hook about an event before it takes effect, and wakes the agent if it is unloaded; see `Questions.ask`. */
  intercept(
    handler: string,
    event: LaresEvent,
    principal: ProcessPrincipal,
    hear: (foreign: Foreign) => void,
  ): Promise<unknown> {
    return this.#parts.stay.call(() => this.#parts.questions.ask(handler, event, principal, hear));
  }

  /**
   * Makes a request of a process of its mind, or of a person in its name: a host call, decided as its guest's are. Throws what the call throws, and
   * AgentError if the agent is disabled, suspended, or cannot run.
   */
  async callAs(
    principal: PersonOrProcess,
    method: string,
    params: unknown,
    options: ProcessCallOptions,
  ): Promise<unknown> {
    const { state, enabled } = this.#parts.life;
    if (enabled && state !== "Suspended")
      return await this.#parts.calls.callAs(principal, method, params, options);
    const reason = enabled ? (this.reason ?? "It is suspended.") : "It is disabled.";
    throw new LaresError("AgentError", `The agent ${this.id} cannot act: ${reason}`, { state, reason });
  }

  /** Aborts what its guest does on behalf of work that was stopped. */
  abortStopped(stopped: StoppedWork): void {
    const isStopped = (lineage: Lineage): boolean => stopped.isStopped(lineage);
    this.#parts.open.abortWhere(isStopped, requestCancelled("What this was for was stopped."));
  }

  /** Loads the agent if necessary. Throws AgentError if it cannot run. */
  async awaken(): Promise<void> {
    await this.#parts.stay.call(() => this.#parts.awake());
  }

  /** Forwards the progress of an open tool call, in its handler's words. Throws NotFound if it is not open. */
  toolProgress(call: string, progress: ToolProgress): void {
    this.#parts.open.report(call, progress);
  }

  /** Delivers due events and runs jobs while there are any and the agent may. */
  pump(): void {
    this.#parts.work.pump();
  }

  /** When the first job that waits for idle time may start, in milliseconds since 1970; null if none does. */
  idleJobDueAt(): number | null {
    return this.#parts.waits ? null : this.#parts.work.jobs.nextDueAt(true);
  }

  startIdleJob(): void {
    this.#parts.work.jobs.pump(true);
  }

  /** Unloads the guest if nothing is open. */
  unloadIfIdle(): void {
    this.#parts.stay.unloadIfIdle();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#parts[Symbol.asyncDispose]();
  }
}
