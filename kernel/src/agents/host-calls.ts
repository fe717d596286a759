import { LaresError } from "../base/errors.ts";
import { decideHostCall } from "../policy/decide.ts";
import type { AgentDefinition, Caller, SupervisorPorts } from "./ports.ts";

export interface HostCallOptions {
  readonly ports: Pick<SupervisorPorts, "services" | "takeTurn">;
  /** Throws InvalidParams with a clear sentence where the shape is wrong, MethodNotFound where there is none. */
  readonly validate: (method: string, params: unknown) => unknown;
  readonly definition: () => AgentDefinition;
  /** What the guest is working on. */
  readonly inHand: () => Pick<Caller, "hook" | "traceId" | "job">;
  readonly onRefusal: (method: string, error: LaresError) => void;
}

/**
 * The one door between a guest and the kernel: its turn, then shape, then permission, then the service. Nothing else
 * hands a guest's request to a room.
 */
export class HostCalls {
  readonly #options: HostCallOptions;

  constructor(options: HostCallOptions) {
    this.#options = options;
  }

  /** In the name of what the guest is doing when it asks, and with what it may do when its turn has come. */
  async answer(method: string, params: unknown): Promise<unknown> {
    const { ports, validate, definition, onRefusal } = this.#options;
    const inHand = this.#options.inHand();
    await ports.takeTurn(definition().id);
    const { id: agent, authority, programDigest } = definition();
    if (programDigest === null) throw new LaresError("AgentError", `The agent ${agent} has no program.`);
    const checked = validate(method, params);
    const decision = decideHostCall(authority, { method, params: checked });
    if (!decision.allowed) {
      onRefusal(method, decision.error);
      throw decision.error;
    }
    const service = Object.hasOwn(ports.services, method) ? ports.services[method] : undefined;
    if (service === undefined) {
      throw new LaresError("MethodNotFound", `The kernel has no "${method}" yet.`, { method });
    }
    return service({ agent, authority, programDigest, ...inHand }, checked as never);
  }
}
