/**
 * References to built-ins, taken before any program runs: an agent (or a polyfill that it bundles) may patch prototypes
 * without corrupting the messages on the pipe.
 */
const { apply } = Reflect;
export const { parse: parseJson, stringify: toJson } = JSON;
const { create: createObject } = Object;
export const { hasOwn, getPrototypeOf } = Object;
export const { floor } = Math;
export const NativePromise = Promise;
export const NativeMap = Map;
export const stringOf = String;

type Method<This, Arguments extends unknown[], Result> = (this: This, ...args: Arguments) => Result;

/** `uncurry(f)(self, …args)` is `f.call(self, …args)`, even if `Function.prototype.call` was patched. */
function uncurry<This, Arguments extends unknown[], Result>(
  method: Method<This, Arguments, Result>,
): (self: This, ...args: Arguments) => Result {
  return (self, ...args) => apply<This, Arguments, Result>(method, self, args);
}

const then = Promise.prototype.then;
/** Calls `then` on a promise of the engine, even if `then` was patched. */
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
export const mapSet = uncurry(Map.prototype.set);
export const mapDelete = uncurry(Map.prototype.delete);
export const mapForEach = uncurry(Map.prototype.forEach);
export const mapClear = uncurry(Map.prototype.clear);

/** Returns a dictionary without a prototype: a missing key is `undefined`. */
export function dictionary<Value>(): Record<string | number, Value | undefined> {
  return createObject(null) as Record<string | number, Value | undefined>;
}

/** Returns an own property of a parsed message, never one of a patched prototype. */
export function own(object: object, key: string): unknown {
  return hasOwn(object, key) ? (object as Record<string, unknown>)[key] : undefined;
}
