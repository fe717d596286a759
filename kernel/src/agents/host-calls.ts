import { LaresError } from "../base/errors.ts";
import { decideHostCall } from "../policy/decide.ts";
import type { Caller, HostServices } from "./ports.ts";

/**
 * The one door between a guest and the kernel: shape, then permission, then the service. Nothing else hands
 * a guest's request to a room.
 */
export interface HostCallGate {
  answer(caller: Caller, method: string, params: unknown): Promise<unknown>;
}

export interface HostCallPorts {
  readonly services: HostServices;
  /** Throws InvalidParams with a clear sentence where the shape is wrong, MethodNotFound where there is none. */
  readonly validate: (method: string, params: unknown) => unknown;
  readonly onRefusal: (caller: Caller, method: string, error: LaresError) => void;
}

export function createHostCallGate(ports: HostCallPorts): HostCallGate {
  return {
    async answer(caller, method, params) {
      const checked = ports.validate(method, params);
      const decision = decideHostCall(caller.authority, { method, params: checked });
      if (!decision.allowed) {
        ports.onRefusal(caller, method, decision.error);
        throw decision.error;
      }
      const service = Object.hasOwn(ports.services, method) ? ports.services[method] : undefined;
      if (service === undefined) {
        throw new LaresError("MethodNotFound", `The kernel has no "${method}" yet.`, { method });
      }
      return service(caller, checked as never);
    },
  };
}
