import { LaresError } from "../errors.ts";
import type { CallOptions } from "../types/call.ts";

/** What a call rejects with whose signal is aborted before it is made. */
export const cancelled = (): LaresError =>
  new LaresError("RequestCancelled", "The agent cancelled this call.");

export function withSignal(signal: AbortSignal | undefined): CallOptions {
  return signal === undefined ? {} : { signal };
}

/** The calls of guest ABI v1, as a context makes them. Rejects with a LaresError. */
export interface Kernel {
  call<Result>(
    method: string,
    params: Readonly<Record<string, unknown>>,
    options?: CallOptions,
  ): Promise<Result>;
  /** A notification: `trace`. */
  notify(method: string, params: Readonly<Record<string, unknown>>): void;
}

/** The same kernel, with the id of the call that each of its calls answers; `undefined` omits it. */
export function onBehalf(kernel: Kernel, callId: () => string | null | undefined): Kernel {
  const saying = (params: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
    const id = callId();
    return id === undefined ? params : { ...params, on_behalf: id };
  };
  return {
    call: (method, params, options) => kernel.call(method, saying(params), options),
    notify: (method, params) => kernel.notify(method, saying(params)),
  };
}
