/**
 * The runtime's own references, taken before any program runs: an agent (or a polyfill it bundles) may
 * patch prototypes as it likes, and the lines on the pipe stay whole.
 */
const { apply } = Reflect;
export const { parse: parseJson, stringify: toJson } = JSON;
export const { hasOwn, create: createObject, defineProperty, getPrototypeOf } = Object;
export const { floor, imul, max, min } = Math;
export const NativePromise = Promise;
export const NativeMap = Map;
export const stringOf = String;

type Method<This, Arguments extends unknown[], Result> = (this: This, ...args: Arguments) => Result;

/** `uncurry(f)(self, …args)` is `f.call(self, …args)`, whatever became of `Function.prototype.call`. */
export function uncurry<This, Arguments extends unknown[], Result>(
  method: Method<This, Arguments, Result>,
): (self: This, ...args: Arguments) => Result {
  return (self, ...args) => apply<This, Arguments, Result>(method, self, args);
}

const then = Promise.prototype.then;
/** `promise.then(…)` for a promise of the engine, past a patched `then`. */
export function whenSettled<T>(
  promise: Promise<T>,
  onValue: (value: T) => void,
  onError: (error: unknown) => void,
): void {
  apply(then, promise, [onValue, onError]);
}

export const wellFormed = uncurry(String.prototype.toWellFormed);
export const sliceText = uncurry(String.prototype.slice);
export const startsWith = uncurry(String.prototype.startsWith);
export const splitText = uncurry(String.prototype.split as Method<string, [string], string[]>);
export const mapGet = uncurry(Map.prototype.get);
export const mapSet = uncurry(Map.prototype.set);
export const mapDelete = uncurry(Map.prototype.delete);
export const mapForEach = uncurry(Map.prototype.forEach);
export const mapClear = uncurry(Map.prototype.clear);

/** A dictionary without a prototype: what is not in it is `undefined`. */
export function dictionary<Value>(): Record<string | number, Value | undefined> {
  return createObject(null) as Record<string | number, Value | undefined>;
}

/** An own property of a parsed message, never one that a prototype was given. */
export function own(object: object, key: string): unknown {
  return hasOwn(object, key) ? (object as Record<string, unknown>)[key] : undefined;
}
