/** The calls of guest ABI v1 as a context makes them. Rejects with a LaresError. */
export interface Kernel {
  call<Result>(method: string, params: Readonly<Record<string, unknown>>): Promise<Result>;
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
    call: (method, params) => kernel.call(method, saying(params)),
    notify: (method, params) => kernel.notify(method, saying(params)),
  };
}
