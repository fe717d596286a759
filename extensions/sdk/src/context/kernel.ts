import type { JsonValue } from "../../../../kernel/src/base/json.ts";
import type {
  GuestCall,
  GuestCallParams,
  GuestCallResult,
  GuestMethodParams,
} from "../../../../kernel/src/protocol/guest/v1/calls.ts";
import { LaresError } from "../errors.ts";
import type { CallOptions } from "../types/call.ts";

/** The error of a call whose signal is aborted before it is made. */
export const cancelled = (): LaresError =>
  new LaresError("RequestCancelled", "The agent cancelled this call.");

export function withSignal(signal: AbortSignal | undefined): CallOptions {
  return signal === undefined ? {} : { signal };
}

/**
 * Params as a context has them: read only, any value of the author's where the wire takes JSON, and a field that is
 * undefined is not sent.
 */
type Sent<Value> = JsonValue extends Value
  ? unknown
  : Value extends object
    ? {
        readonly [Key in keyof Value]:
          Sent<Value[Key]> | (object extends Pick<Value, Key> ? undefined : never);
      }
    : Value;

export type CallParams<Method extends GuestCall> = Sent<GuestCallParams<Method>>;

/** The calls of guest ABI v1, as a context makes them. Rejects with a LaresError. */
export interface Kernel {
  call<Method extends GuestCall>(
    method: Method,
    params: CallParams<Method>,
    options?: CallOptions,
  ): Promise<GuestCallResult<Method>>;
  notify(method: "trace", params: Sent<GuestMethodParams<"trace">>): void;
}

/** The same kernel, with the id of the tool call or job that each of its calls answers; null if it answers none. */
export function onBehalf(kernel: Kernel, callId: string | null): Kernel {
  const saying = <Params>(params: Params): Params => ({ ...params, on_behalf: callId });
  return {
    call: (method, params, options) => kernel.call(method, saying(params), options),
    notify: (method, params) => kernel.notify(method, saying(params)),
  };
}
