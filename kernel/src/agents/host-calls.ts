import type { Clock } from "../base/clock.ts";
import { unlimitedCpu } from "../base/cpu-budget.ts";
import { LaresError, messageOf } from "../base/errors.ts";
import { decideHostCall, isReadingCall } from "../policy/decide.ts";
import type { MetricsRecorder } from "./metrics.ts";
import type { AgentDefinition, Caller, GuestHandlers, GuestSession, SupervisorPorts } from "./ports.ts";
import { RefusalLog } from "./refusal-log.ts";
import type { WriteTrace } from "./trace-writer.ts";

export interface HostCallOptions {
  readonly ports: Pick<SupervisorPorts, "services" | "takeTurn">;
  /** Throws InvalidParams with a clear sentence where the shape is wrong, MethodNotFound where there is none. */
  readonly validate: (method: string, params: unknown) => unknown;
  readonly definition: () => AgentDefinition;
  /** What the guest is working on. */
  readonly inHand: () => Pick<Caller, "hook" | "traceId" | "job">;
  /** The one that runs. */
  readonly guest: () => GuestSession | null;
  readonly clock: Clock;
  readonly metrics: Pick<MetricsRecorder, "refused">;
  readonly trace: WriteTrace;
}

/** How often a call that reads is made again because the agent's permissions changed meanwhile. */
const maxReadAttempts = 3;

/**
 * The one door between a guest and the kernel: its turn, then shape, then permission, then the service. Nothing else
 * hands a guest's request to a room.
 */
export class HostCalls implements GuestHandlers, Disposable {
  readonly #options: HostCallOptions;
  readonly #refusals: RefusalLog;

  constructor(options: HostCallOptions) {
    this.#options = options;
    this.#refusals = new RefusalLog(options.clock, (message, fields) =>
      options.trace("warn", message, fields),
    );
  }

  /**
   * In the name of what the guest is doing when it asks, and with what it may do when its turn has come. What only reads
   * is answered with what the agent may do when the answer goes out.
   */
  async call(method: string, params: unknown): Promise<unknown> {
    const { ports, validate, definition, metrics } = this.#options;
    const { job, ...inHand } = this.#options.inHand();
    const guest = this.#options.guest();
    await ports.takeTurn(definition().id);
    const { id: agent, programDigest } = definition();
    if (programDigest === null) throw new LaresError("AgentError", `The agent ${agent} has no program.`);
    const checked = validate(method, params);
    for (let attempt = 1; ; attempt++) {
      const { authority } = definition();
      const decision = decideHostCall(authority, { method, params: checked });
      if (!decision.allowed) {
        metrics.refused();
        this.#refusals.refused(decision.error.message, { method, ...decision.error.facts });
        throw decision.error;
      }
      const service = Object.hasOwn(ports.services, method) ? ports.services[method] : undefined;
      if (service === undefined) {
        throw new LaresError("MethodNotFound", `The kernel has no "${method}" yet.`, { method });
      }
      // Where the next guest has taken its place, the job it ran may be running there anew.
      const isItsJob = job !== undefined && guest === this.#options.guest();
      const cpu = guest?.cpu ?? unlimitedCpu;
      const caller = { agent, authority, programDigest, cpu, ...inHand, ...(isItsJob ? { job } : {}) };
      const answer = await service(caller, checked as never);
      // An answer may come long after the question. It is made of what the agent may do now.
      if (definition().authority === authority || !isReadingCall(method)) return answer;
      if (attempt === maxReadAttempts)
        throw new LaresError("Busy", `What ${agent} may do changed again and again; ask again later.`);
    }
  }

  /** What it asks without waiting for an answer: where that fails, its traces say so. */
  notify(method: string, params: unknown): void {
    this.call(method, params).catch((error: unknown) =>
      this.#options.trace("warn", `${method}: ${messageOf(error)}`),
    );
  }

  stderr(text: string): void {
    this.#options.trace("warn", text);
  }

  /** Tells of the refusals that were not told yet. */
  [Symbol.dispose](): void {
    this.#refusals[Symbol.dispose]();
  }
}
