import type { Clock } from "../../base/clock.ts";
import { isLaresError, LaresError, messageOf } from "../../base/errors.ts";
import { bootGuest, endGuest, type GuestAbilities, unknownAbilities } from "./boot.ts";
import { isTransient } from "../delivery/delivery.ts";
import type { AgentDefinition, GuestHandlers, GuestSession, GuestUsage, SupervisorPorts } from "../ports.ts";

interface GuestHolderOptions {
  readonly ports: Pick<SupervisorPorts, "acquireSlot" | "openMemory" | "startGuest">;
  readonly clock: Clock;
  readonly handlers: GuestHandlers;
  /** A request to the guest, counted as work in hand. */
  ask(session: GuestSession, method: string, params: unknown): Promise<unknown>;
  /** The start that is under way is still what is wanted. */
  isStartWanted(): boolean;
  /** What became of it; the lifecycle follows. */
  readonly became: {
    ready(): void;
    /** No retry helps. */
    broken(reason: string, error?: unknown): void;
    crashed(reason: string, isSandboxFault: boolean): void;
    /** It is gone, as was asked. */
    stopped(): void;
  };
  readonly onUsage: (usage: GuestUsage) => void;
  readonly onEnd: (reason: string) => void;
  readonly onFailedShutdown: (error: unknown) => void;
}

/** Holds the one guest an agent may have, from the place it waits for to its end. */
export class GuestHolder {
  readonly #options: GuestHolderOptions;
  readonly #endedOnPurpose = new WeakSet<GuestSession>();
  #session: GuestSession | null = null;
  #slot: Disposable | null = null;
  #abilities = unknownAbilities;
  /** Counts the starts, so that one that was overtaken while it waited knows it. */
  #generation = 0;

  constructor(options: GuestHolderOptions) {
    this.#options = options;
  }

  get session(): GuestSession | null {
    return this.#session;
  }

  /** What the guest that runs, or ran last, said that it can do. */
  get abilities(): GuestAbilities {
    return this.#abilities;
  }

  wasEndedOnPurpose(session: GuestSession): boolean {
    return this.#endedOnPurpose.has(session);
  }

  /** Waits for a place, starts the guest, and boots it. What became of it is told, never thrown. */
  async start(id: string, definition: AgentDefinition): Promise<void> {
    const { ports, became } = this.#options;
    if (definition.fault !== undefined) {
      became.broken(definition.fault);
      return;
    }
    const generation = (this.#generation += 1);
    const isOvertaken = (): boolean => !this.#options.isStartWanted() || this.#generation !== generation;
    const slot = await ports.acquireSlot(id);
    if (isOvertaken()) {
      slot[Symbol.dispose]();
      return;
    }
    this.#slot = slot;
    let session: GuestSession;
    try {
      if (definition.memory) await ports.openMemory(id);
      session = await ports.startGuest(definition, this.#options.handlers);
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
    this.#adopt(session);
    try {
      await bootGuest(
        definition,
        (method, params) => this.#options.ask(session, method, params),
        (abilities) => (this.#abilities = abilities),
      );
    } catch (error) {
      // It ended meanwhile, or its end is on the way: that is told by `ended`.
      if (this.#session !== session || isLaresError(error, "AgentError")) return;
      became.broken(messageOf(error), error);
      return;
    }
    if (this.#session === session && !isOvertaken()) became.ready();
  }

  /** Ends the guest; one that is still on its way is ended when it arrives. `isKilled`: without asking it first. */
  async stop(isKilled: boolean): Promise<void> {
    const session = this.#session;
    if (session === null) {
      if (this.#slot === null) this.#options.became.stopped();
      return;
    }
    this.#endedOnPurpose.add(session);
    if (isKilled) await session.kill();
    else await endGuest(session, this.#options.clock).catch(this.#options.onFailedShutdown);
  }

  #adopt(session: GuestSession): void {
    const { became, isStartWanted, onUsage, onEnd, onFailedShutdown } = this.#options;
    this.#session = session;
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
      // A program that ends before it is ready would do so again: no retry helps.
      else if (isStartWanted() && end.isSandboxFault !== true) became.broken(end.reason);
      else became.crashed(end.reason, end.isSandboxFault === true);
    });
  }

  #releaseSlot(): void {
    this.#slot?.[Symbol.dispose]();
    this.#slot = null;
  }
}

/** The sandbox went away while the guest was being started: the program may be as good as ever. */
function isSandboxFault(error: unknown): boolean {
  return isLaresError(error, "AgentError") && error.facts["reason"] === "sandbox";
}
