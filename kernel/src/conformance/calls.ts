import { isJsonObject } from "../base/json.ts";
import { guestCalls, guestMethods, isGuestMethod, OnBehalf } from "../protocol/guest/v1/calls.ts";
import { guestNotifications } from "../protocol/guest/v1/notifications.ts";
import { wireCodes } from "../protocol/errors.ts";
import { validate } from "../protocol/validate.ts";
import { shown, type WireError } from "../sandbox/abi/v1/messages.ts";
import { jsonExample } from "./json-example.ts";

/** Why the kernel refuses a host call for its form, and the error that it answers with. */
export interface CallFault {
  readonly sentence: string;
  readonly error: WireError;
}

/** Returns what is wrong with a host call's method or params; null if nothing is. */
export function callFault(method: string, params: unknown): CallFault | null {
  if (!isGuestMethod(method) || method === "trace") {
    const sentence =
      method === "trace"
        ? 'It called "trace" with an id; it is a notification.'
        : `It called ${shown(method)}, which the ABI does not have.`;
    return {
      sentence,
      error: { code: wireCodes.MethodNotFound, message: sentence, data: { code: "MethodNotFound" } },
    };
  }
  const { on_behalf: onBehalf, ...rest } = isJsonObject(params) ? params : { params };
  const fault =
    validate(guestMethods[method], isJsonObject(params) ? rest : params) ??
    (onBehalf === undefined ? null : validate(OnBehalf, onBehalf, "params.on_behalf"));
  if (fault === null) return null;
  const sentence = `It called ${method}: ${fault.message}`;
  return {
    sentence,
    error: { code: wireCodes.InvalidParams, message: fault.message, data: { code: "InvalidParams" } },
  };
}

/** Returns what is wrong with a message without an id; null if nothing is. */
export function notificationFault(method: string, params: unknown): string | null {
  if (method === "notify") {
    const fault = validate(guestCalls.notify.params, params);
    return fault === null ? null : `It sent notify: ${fault.message}`;
  }
  if (method !== "trace" && method !== "cancel")
    return `It sent ${shown(method)} without an id; the ABI has no such notification.`;
  const fault = validate(guestNotifications[method].params, params);
  return fault === null ? null : `It sent ${method}: ${fault.message}`;
}

/** Returns a small result that fits the method's schema. */
export function resultFor(method: string): unknown {
  return isGuestMethod(method) && method !== "trace" ? jsonExample(guestCalls[method].result) : null;
}
