import type { Clock } from "../../base/clock.ts";
import { isLaresError, LaresError, messageOf } from "../../base/errors.ts";
import { bodyOf } from "./bodies.ts";
import { unknownAbilities } from "./boot.ts";
import { isTransient } from "../delivery/delivery.ts";
import type {
  AgentAbilities,
  AgentBody,
  AgentDefinition,
  AgentSession,
  GuestHandlers,
  GuestUsage,
  SupervisorPorts,
} from "../ports.ts";

interface BodyHolderOptions {
  readonly ports: Pick<
    SupervisorPorts,
    "acquireSlot" | "adoptTypes" | "kernelBody" | "openMemory" | "startGuest"
  >;
  readonly clock: Clock;
  readonly handlers: GuestHandlers;
  /** A request to the guest, counted as open work. */
  ask(session: AgentSession, method: string, params: unknown): Promise<unknown>;
  /** True if the current start is still wanted. */
  isStartWanted(): boolean;
  /** Outcomes of the start; the lifecycle reacts to them. */
  readonly became: {
    ready(): void;
    /** A retry would not help. */
    broken(reason: string, error?: unknown): void;
    crashed(reason: string, isSandboxFault: boolean): void;
    /** It ended as requested. */
    stopped(): void;
  };
  readonly onUsage: (usage: GuestUsage) => void;
  readonly onEnd: (reason: string) => void;
  readonly onFailedShutdown: (error: unknown) => void;
}

/** Owns the body that runs an agent, a guest or a part of the kernel, from waiting for a place until its end. */
export class BodyHolder {
  readonly #options: BodyHolderOptions;
  readonly #endedOnPurpose = new WeakSet<AgentSession>();
  #session: AgentSession | null = null;
  /** The session that runs, or ran last. */
  #body: AgentBody | null = null;
  #slot: Disposable | null = null;
  #abilities = unknownAbilities;
  /** Counts the starts, so that a start that was superseded while it waited can detect that. */
  #generation = 0;

  constructor(options: BodyHolderOptions) {
    this.#options = options;
  }

  get session(): AgentSession | null {
    return this.#session;
  }

  /** The capabilities that the current or last guest reported. */
  get abilities(): AgentAbilities {
    return this.#abilities;
  }

  wasEndedOnPurpose(session: AgentSession): boolean {
    return this.#endedOnPurpose.has(session);
  }

  /** Waits for a place, starts the agent's body and boots it. Reports the outcome and never throws. */
  async start(id: string, definition: AgentDefinition): Promise<void> {
    const { ports, became } = this.#options;
    if (definition.fault !== undefined) {
      became.broken(definition.fault);
      return;
    }
    const generation = (this.#generation += 1);
    const isOvertaken = (): boolean => !this.#options.isStartWanted() || this.#generation !== generation;
    const body = bodyOf(definition, ports, this.#options.clock);
    const slot = await body.takePlace(id);
    if (isOvertaken()) {
      slot[Symbol.dispose]();
      return;
    }
    this.#slot = slot;
    let session: AgentSession;
    try {
      if (definition.memory) await ports.openMemory(id);
      session = await body.start(definition, this.#options.handlers);
    } catch (error) {
      this.#releaseSlot();
      if (isOvertaken()) became.stopped();
      else if (isTransient(error) || isSandboxFault(error)) became.crashed(messageOf(error), true);
      else became.broken(messageOf(error));
      return;
    }
    if (isOvertaken()) {
      await session.kill();
      this.#releaseSlot();
      became.stopped();
      return;
    }
    this.#adopt(session, body);
    try {
      await body.boot(
        definition,
        (method, params) => this.#options.ask(session, method, params),
        (abilities) => (this.#abilities = abilities),
      );
    } catch (error) {
      // It ended meanwhile or is ending, which `ended` reports.
      if (this.#session !== session || isLaresError(error, "AgentError")) return;
      became.broken(messageOf(error), error);
      return;
    }
    if (this.#session === session && !isOvertaken()) became.ready();
  }

  /**
   * Ends the guest; one that is still starting is ended when it has started. `isKilled`: without a shutdown
   * request.
   */
  async stop(isKilled: boolean): Promise<void> {
    const session = this.#session;
    if (session === null) {
      if (this.#slot === null) this.#options.became.stopped();
      return;
    }
    this.#endedOnPurpose.add(session);
    if (isKilled) await session.kill();
    else await this.#body?.end(session).catch(this.#options.onFailedShutdown);
  }

  #adopt(session: AgentSession, body: AgentBody): void {
    const { became, isStartWanted, onUsage, onEnd, onFailedShutdown } = this.#options;
    this.#session = session;
    this.#body = body;
    session.usage.on(onUsage);
    void session.ended.then((end) => {
      onEnd(end.reason);
      if (this.#session !== session) return;
      this.#session = null;
      this.#releaseSlot();
      if (this.#endedOnPurpose.has(session)) {
        if (end.limit !== undefined) onFailedShutdown(new LaresError("AgentError", end.reason));
        became.stopped();
      }
      // A program that ends before it is ready would do so again, so a retry does not help.
      else if (isStartWanted() && end.isSandboxFault !== true) became.broken(end.reason);
      else became.crashed(end.reason, end.isSandboxFault === true);
    });
  }

  #releaseSlot(): void {
    this.#slot?.[Symbol.dispose]();
    this.#slot = null;
  }
}

/** The sandbox ended while the guest was being started; the program is not at fault. */
function isSandboxFault(error: unknown): boolean {
  return isLaresError(error, "AgentError") && error.facts["reason"] === "sandbox";
}
