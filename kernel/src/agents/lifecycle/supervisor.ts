import type { Emitter } from "../../base/emitter.ts";
import { illegalTransition, messageOf } from "../../base/errors.ts";
import type { Agent, AgentCommand, AgentState } from "../../base/vocabulary/agent.ts";
import type { Authority } from "../../base/vocabulary/permissions.ts";
import { actorWords, lineageUnder, type Principal } from "../../base/vocabulary/principal.ts";
import type { ToolProgress } from "../../base/vocabulary/progress.ts";
import type { WriteTrace } from "../trace-writer.ts";
import { followUp } from "../describe.ts";
import type { MetricsRecorder } from "../metrics.ts";
import type { AgentDefinition, ToolCallOptions } from "../ports.ts";
import type { JobLoop } from "../running-jobs/job-loop.ts";
import { AgentParts, type SupervisorOptions } from "./agent-parts.ts";
import { permissionParams } from "./boot.ts";
import type { Reports } from "./reports.ts";

/** Runs one agent: its lifecycle, its guest, its queue. Everything it does shows in its state, metrics and traces. */
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

  /** Enabled, and so also while the kernel closes, which is no decision of a person: events go on being kept for it. */
  get isListening(): boolean {
    return this.#parts.isListening;
  }

  get jobs(): JobLoop {
    return this.#parts.work.jobs;
  }

  /** Nothing in hand: no open request, no delivery that could be made now, and no job. */
  get isIdle(): boolean {
    return this.#parts.isIdle;
  }

  /** Nothing in hand, but for jobs that wait for just that. */
  get isQuiet(): boolean {
    return this.#parts.isQuiet;
  }

  describe(): Agent {
    return this.#parts.describe();
  }

  /** In monotonic milliseconds. */
  get lastActivity(): number {
    return this.#parts.stay.lastActivity;
  }

  /** In monotonic milliseconds; null where it does something, or would at once. */
  get idleSince(): number | null {
    return this.#parts.stay.idleSince;
  }

  /** Notes in the agent's traces that it was not told of an event. */
  withheld(event: string, reason: string): void {
    this.#parts.reports.missed(event, "withheld", reason);
  }

  /** Notes in the agent's traces that an event had no room in its queue. */
  dropped(event: string, reason: string): void {
    this.#parts.reports.missed(event, "dropped", reason);
  }

  /** Says again what is counted: of a new day, nothing yet. */
  dayTurned(): void {
    this.#parts.reports.tellCounts();
  }

  /** Begins: a faulty program is Error at once, an eager agent is loaded, any other waits for its first event. */
  start(): void {
    if (this.#parts.definition.fault !== undefined) {
      this.#parts.life.send({ type: "broken", reason: this.#parts.definition.fault });
      return;
    }
    if (this.#parts.definition.activation === "eager") this.#parts.life.send({ type: "wake" });
    else this.pump();
  }

  /** Takes the agent to Error: something that it cannot do without is damaged, and no retry mends it. */
  break(reason: string): void {
    this.#parts.life.send({ type: "broken", reason });
  }

  /** A command of `by`; answers when the state it leads to is reached. */
  async control(by: Principal, command: AgentCommand): Promise<Agent> {
    // What is on its way is soon something else, and by itself: a command that it cannot take is for that.
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
   * Takes over a changed definition. Authority counts from this moment on; a changed program or limit needs a
   * new guest, everything else goes on in the running one.
   */
  async update(definition: AgentDefinition): Promise<void> {
    const before = this.#parts.definition;
    // The guest that goes on for want of a better one acts in the name of the program it was loaded from.
    const goesOn =
      definition.fault !== undefined &&
      definition.problems?.isUnusable !== true &&
      this.#parts.body.session !== null;
    this.#parts.definition = goesOn ? { ...definition, bundleDigest: before.bundleDigest } : definition;
    this.#parts.work.ratePerSecond = definition.limits.max_events_per_second;
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
   * Calls a tool, waking the agent where it sleeps. Awaits `begun` immediately before the guest is asked. Where the signal
   * is aborted after that, the guest is told, and its answer is still the call's.
   */
  callTool(
    name: string,
    params: Record<string, unknown>,
    principal: Principal,
    options: ToolCallOptions = {},
  ): Promise<unknown> {
    return this.#parts.stay.call(() => this.#parts.toolCalls.call(name, params, principal, options));
  }

  /** How far an open call of a tool is, in the words of its handler. Throws NotFound if it is not open. */
  toolProgress(call: string, progress: ToolProgress): void {
    this.#parts.open.report(call, progress);
  }

  /** Delivers what is due and runs its jobs, as long as there is something and the agent may take it. */
  pump(): void {
    this.#parts.work.pump();
  }

  /** When the first job may begin that waits for a quiet moment, in milliseconds since 1970; null where none does. */
  idleJobDueAt(): number | null {
    return this.#parts.waits ? null : this.#parts.work.jobs.nextDueAt(true);
  }

  startIdleJob(): void {
    this.#parts.work.jobs.pump(true);
  }

  /** Lets the guest go when nothing is in hand. */
  unloadIfIdle(): void {
    this.#parts.stay.unloadIfIdle();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#parts[Symbol.asyncDispose]();
  }
}
