import { LaresError } from "../base/errors.ts";
import { guestCalls, isGuestCall } from "../protocol/guest/v1/calls.ts";
import { guestNotifications } from "../protocol/guest/v1/services.ts";
import { checkParams } from "../protocol/validate.ts";

/** Throws InvalidParams where a guest's call has another shape than the ABI's, MethodNotFound where there is none. */
export function validateHostCall(method: string, params: unknown): unknown {
  const given = params ?? {};
  const schema = schemaOf(method);
  if (schema === null) throw new LaresError("MethodNotFound", `The kernel has no "${method.slice(0, 200)}".`);
  checkParams(method, schema, given);
  return given;
}

function schemaOf(method: string) {
  if (isGuestCall(method)) return guestCalls[method].params;
  return method === "trace" ? guestNotifications.trace : null;
}
