/**
 * The globals of an agent's sandbox besides the language's own, as `kernel/src/sandbox/guest/runtime` creates them.
 * They replace those of browsers and Node, which agents do not have.
 */
declare function setTimeout<Arguments extends unknown[]>(
  run: (...args: Arguments) => unknown,
  delayMs?: number,
  ...args: Arguments
): number;
declare function setInterval<Arguments extends unknown[]>(
  run: (...args: Arguments) => unknown,
  delayMs?: number,
  ...args: Arguments
): number;
declare function clearTimeout(id?: number): void;
declare function clearInterval(id?: number): void;
declare function queueMicrotask(run: () => void): void;
declare function structuredClone<Value>(value: Value): Value;
declare function atob(text: string): string;
declare function btoa(text: string): string;

/** Every call is one entry of the agent's trace. */
interface Console {
  log(...args: unknown[]): void;
  info(...args: unknown[]): void;
  debug(...args: unknown[]): void;
  trace(...args: unknown[]): void;
  warn(...args: unknown[]): void;
  error(...args: unknown[]): void;
  dir(value: unknown): void;
  table(value: unknown): void;
  assert(holds: unknown, ...args: unknown[]): void;
  count(label?: string): void;
  time(label?: string): void;
  timeEnd(label?: string): void;
  group(...args: unknown[]): void;
  groupEnd(): void;
}
declare var console: Console;

interface Crypto {
  /** Accepts only integer arrays, at most 65536 bytes at a time. */
  getRandomValues<View extends ArrayBufferView>(view: View): View;
  randomUUID(): `${string}-${string}-${string}-${string}-${string}`;
}
declare var crypto: Crypto;

interface Performance {
  readonly timeOrigin: number;
  now(): number;
}
declare var performance: Performance;

interface TextEncoder {
  readonly encoding: string;
  encode(text?: string): Uint8Array<ArrayBuffer>;
}
declare var TextEncoder: { prototype: TextEncoder; new (): TextEncoder };

interface TextDecoder {
  readonly encoding: string;
  decode(bytes?: ArrayBufferLike | ArrayBufferView): string;
}
declare var TextDecoder: {
  prototype: TextDecoder;
  new (label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean }): TextDecoder;
};

interface URLSearchParamsIterator<Item> extends IteratorObject<Item, BuiltinIteratorReturn> {
  [Symbol.iterator](): URLSearchParamsIterator<Item>;
}
interface URLSearchParams {
  [Symbol.iterator](): URLSearchParamsIterator<[string, string]>;
  readonly size: number;
  append(name: string, value: string): void;
  delete(name: string, value?: string): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string, value?: string): boolean;
  set(name: string, value: string): void;
  sort(): void;
  forEach(run: (value: string, name: string, params: URLSearchParams) => void): void;
  entries(): URLSearchParamsIterator<[string, string]>;
  keys(): URLSearchParamsIterator<string>;
  values(): URLSearchParamsIterator<string>;
  toString(): string;
}
declare var URLSearchParams: {
  prototype: URLSearchParams;
  new (
    init?: string | Iterable<readonly [string, string]> | Record<string, string> | URLSearchParams,
  ): URLSearchParams;
};

interface URL {
  hash: string;
  host: string;
  hostname: string;
  href: string;
  readonly origin: string;
  password: string;
  pathname: string;
  port: string;
  protocol: string;
  search: string;
  readonly searchParams: URLSearchParams;
  username: string;
  toString(): string;
  toJSON(): string;
}
declare var URL: {
  prototype: URL;
  new (url: string | URL, base?: string | URL): URL;
  canParse(url: string | URL, base?: string | URL): boolean;
};

interface DOMException extends Error {
  readonly code: number;
}
declare var DOMException: {
  prototype: DOMException;
  new (message?: string, name?: string): DOMException;
};

interface Event {
  readonly type: string;
  readonly cancelable: boolean;
  readonly defaultPrevented: boolean;
  readonly target: EventTarget | null;
  readonly timeStamp: number;
  preventDefault(): void;
}
declare var Event: { prototype: Event; new (type: string, options?: { cancelable?: boolean }): Event };

type EventListenerOrEventListenerObject =
  ((event: Event) => unknown) | { handleEvent(event: Event): unknown };
interface EventTarget {
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: { once?: boolean; signal?: AbortSignal } | boolean,
  ): void;
  removeEventListener(type: string, listener: EventListenerOrEventListenerObject | null): void;
  dispatchEvent(event: Event): boolean;
}
declare var EventTarget: { prototype: EventTarget; new (): EventTarget };

interface AbortSignal extends EventTarget {
  readonly aborted: boolean;
  readonly reason: unknown;
  onabort: ((event: Event) => unknown) | null;
  throwIfAborted(): void;
}
declare var AbortSignal: {
  prototype: AbortSignal;
  abort(reason?: unknown): AbortSignal;
  timeout(delayMs: number): AbortSignal;
  any(signals: Iterable<AbortSignal>): AbortSignal;
};

interface AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}
declare var AbortController: { prototype: AbortController; new (): AbortController };
