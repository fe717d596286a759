import type { Caller, SupervisorPorts } from "../../agents/ports.ts";
import type { Static } from "typebox";
import { LaresError } from "../../base/errors.ts";
import { isJsonObject } from "../../base/json.ts";
import type { DecidedCall } from "../../policy/decide.ts";
import {
  guestMethods,
  isGuestMethod,
  OnBehalf,
  type GuestMethod,
  type GuestMethodParams,
  type GuestServices,
} from "../../protocol/guest/v1/calls.ts";
import { checkParams } from "../../protocol/validate.ts";

/** Validates guests' requests to these services and describes them to policy. */
export function createGuestDoor(services: GuestServices<Caller>): SupervisorPorts["readHostCall"] {
  const read = <Method extends GuestMethod>(method: Method, params: unknown) => {
    checkParams(method, guestMethods[method], params);
    // A value that matches the schema has its type.
    const checked = params as GuestMethodParams<Method>;
    return { params: checked, answer: (caller: Caller) => services[method](caller, checked) };
  };
  return (method, params) => {
    if (isGuestMethod(method)) {
      // Each of the ABI's calls has a rule of policy, or this does not compile.
      const decided: DecidedCall = method;
      const { onBehalf, rest } = splitOnBehalf(method, params ?? {});
      return { ...read(decided, rest), ...(onBehalf === undefined ? {} : { onBehalf }) };
    }
    throw new LaresError("MethodNotFound", `The kernel has no "${method.slice(0, 200)}".`);
  };
}

/** Every call may name the call that it belongs to; services do not receive that field. */
function splitOnBehalf(
  method: string,
  params: unknown,
): { readonly onBehalf?: string | null; readonly rest: unknown } {
  if (!isJsonObject(params) || !Object.hasOwn(params, "on_behalf")) return { rest: params };
  const { on_behalf: onBehalf, ...rest } = params;
  checkParams(method, OnBehalf, onBehalf);
  return { onBehalf: onBehalf as Static<typeof OnBehalf>, rest };
}
