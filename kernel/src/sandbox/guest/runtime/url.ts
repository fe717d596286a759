/**
 * The native `URL` and `URLSearchParams` (Ada) lack `searchParams`, and their constructors accept only text. This adds
 * the rest of the standard: pairs and records as input, and parameters that write back.
 */
type Pairs = Iterable<readonly [string, string]> | Record<string, string>;
type Mutator = (this: URLSearchParams, ...args: unknown[]) => unknown;

export function completeUrl(): void {
  const Native = URLSearchParams;
  const prototype = Native.prototype as unknown as Record<string, Mutator>;
  const append = prototype["append"];
  const remove = prototype["delete"];
  if (append === undefined || remove === undefined)
    throw new Error("The native URLSearchParams lacks methods that this code needs.");

  function Params(this: unknown, init?: string | Pairs): URLSearchParams {
    if (new.target === undefined) throw new TypeError("URLSearchParams must be called with new.");
    const isPairs = typeof init === "object" && init !== null && !(init instanceof Native);
    const params = Reflect.construct(
      Native,
      isPairs || init === undefined ? [] : [String(init)],
      new.target,
    ) as URLSearchParams;
    if (isPairs) {
      for (const [name, value] of Symbol.iterator in init ? init : Object.entries(init)) {
        Reflect.apply(append as Mutator, params, [String(name), String(value)]);
      }
    }
    return params;
  }
  Params.prototype = Native.prototype;
  Object.defineProperty(Native.prototype, "constructor", {
    value: Params,
    writable: true,
    configurable: true,
  });
  Object.defineProperty(Params, "name", { value: "URLSearchParams", configurable: true });
  Object.defineProperty(globalThis, "URLSearchParams", { value: Params, writable: true, configurable: true });

  const urls = new WeakMap<URLSearchParams, URL>();
  const paramsOf = new WeakMap<URL, URLSearchParams>();
  for (const name of ["append", "delete", "set", "sort"]) {
    const change = prototype[name];
    if (change === undefined) continue;
    const value = function (this: URLSearchParams, ...args: unknown[]): unknown {
      const result = Reflect.apply(change, this, args);
      const url = urls.get(this);
      if (url !== undefined) url.search = this.toString();
      return result;
    };
    Object.defineProperty(value, "name", { value: name, configurable: true });
    Object.defineProperty(Native.prototype, name, {
      value,
      writable: true,
      configurable: true,
      enumerable: true,
    });
  }
  Object.defineProperty(URL.prototype, "searchParams", {
    configurable: true,
    enumerable: true,
    get(this: URL): URLSearchParams {
      const current = new Native(this.search);
      const params = paramsOf.get(this) ?? new Native(this.search);
      // `search` or `href` was set meanwhile: the same object must show the current parameters.
      if (params.toString() !== current.toString()) {
        for (const name of Array.from(params.keys())) Reflect.apply(remove, params, [name]);
        current.forEach((value, name) => Reflect.apply(append, params, [name, value]));
      }
      paramsOf.set(this, params);
      urls.set(params, this);
      return params;
    },
  });
}
