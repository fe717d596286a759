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
  readonly ports: Pick<SupervisorPorts, "acquireSlot" | "kernelBody" | "openMemory" | "startGuest">;
  readonly clock: Clock;
  readonly handlers: GuestHandlers;
  /** A request to the guest, counted as work in hand. */
  ask(session: AgentSession, method: string, params: unknown): Promise<unknown>;
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

/** Holds what an agent runs in, a guest or a part of the kernel, from the place it waits for to its end. */
export class BodyHolder {
  readonly #options: BodyHolderOptions;
  readonly #endedOnPurpose = new WeakSet<AgentSession>();
  #session: AgentSession | null = null;
  /** Of the session that runs, or ran last. */
  #body: AgentBody | null = null;
  #slot: Disposable | null = null;
  #abilities = unknownAbilities;
  /** Counts the starts, so that one that was overtaken while it waited knows it. */
  #generation = 0;

  constructor(options: BodyHolderOptions) {
    this.#options = options;
  }

  get session(): AgentSession | null {
    return this.#session;
  }

  /** What the guest that runs, or ran last, said that it can do. */
  get abilities(): AgentAbilities {
    return this.#abilities;
  }

  wasEndedOnPurpose(session: AgentSession): boolean {
    return this.#endedOnPurpose.has(session);
  }

  /** Waits for a place, starts the agent's body, and boots it. What became of it is told, never thrown. */
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
