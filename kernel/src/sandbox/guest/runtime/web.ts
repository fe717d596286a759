import { AbortController, AbortSignal, Event, EventTarget } from "./events.ts";
import { floor, parseJson } from "./intrinsics.ts";
import { maxJsonDepth, type Native } from "./native.ts";
import type { Timers } from "./timers.ts";
import { completeUrl } from "./url.ts";

/** As in browsers, the limit of one request for random bytes. */
const maxRandomBytes = 65536;

/**
 * Installs the globals that an agent may expect besides the language's own. `URL`, `URLSearchParams`, `TextEncoder`,
 * `TextDecoder` and `structuredClone` are native (linked into the image); `atob`, `btoa`, `queueMicrotask` and
 * `DOMException` come from the engine.
 */
export function installGlobals(
  native: Native,
  timers: Timers,
  parse: typeof JSON.parse,
  console: Record<string, unknown>,
): void {
  const set = (repeats: boolean) => {
    return (run: unknown, delay?: unknown, ...args: unknown[]): number => {
      if (typeof run !== "function") throw new TypeError("A timer needs a function to call.");
      return timers.set(() => void (run as (...args: unknown[]) => unknown)(...args), delay, repeats);
    };
  };
  const clear = (id?: unknown): void => timers.clear(id);
  define("setTimeout", set(false));
  define("setInterval", set(true));
  define("clearTimeout", clear);
  define("clearInterval", clear);
  define("console", console);
  define("Event", Event);
  define("EventTarget", EventTarget);
  define("AbortSignal", AbortSignal);
  define("AbortController", AbortController);
  define("crypto", makeCrypto(native));
  completeUrl();
  Math.random = makeRandom(native);
  JSON.parse = parse;
}

/** Sets up what depends on the time at which the guest starts, not on the time at which its image was built. */
export function startClock(native: Native): void {
  const startMs = native.now();
  const timeOrigin = Date.now();
  define("performance", { timeOrigin, now: () => native.now() - startMs });
}

function define(name: string, value: unknown): void {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
}

/** Returns a `JSON.parse` that throws a RangeError for too deep nesting, where the engine's own would crash. */
export function guardedParse(native: Native): typeof JSON.parse {
  return function parse(text, reviver) {
    const source = String(text);
    // Shorter texts cannot be nested that deep.
    if (source.length > maxJsonDepth && native.depth(source) > maxJsonDepth) {
      throw new RangeError(`This JSON is nested deeper than ${maxJsonDepth} levels.`);
    }
    return parseJson(source, reviver);
  };
}

function makeCrypto(native: Native): object {
  return {
    getRandomValues<View extends ArrayBufferView>(view: View): View {
      if (
        !ArrayBuffer.isView(view) ||
        view instanceof DataView ||
        view.constructor.name.startsWith("Float")
      ) {
        throw new TypeError("getRandomValues needs an integer typed array.");
      }
      if (view.byteLength > maxRandomBytes) {
        throw new DOMException(`At most ${maxRandomBytes} random bytes at a time.`, "QuotaExceededError");
      }
      new Uint8Array(view.buffer, view.byteOffset, view.byteLength).set(native.random(view.byteLength));
      return view;
    },
    randomUUID(): string {
      const bytes = native.random(16);
      bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
      bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
      const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
      return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join(
        "-",
      );
    },
  };
}

/** The engine's own generator was seeded when the image was built, so every guest would get the same numbers. */
function makeRandom(native: Native): () => number {
  let a = 0;
  let b = 0;
  let c = 0;
  let counter = 0;
  // sfc32 (Chris Doty-Humphrey), seeded from the system.
  const next = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  return function random() {
    if (counter === 0) {
      const seed = new Uint32Array(native.random(16).buffer);
      [a = 0, b = 0, c = 0, counter = 1] = seed;
      counter |= 1;
    }
    return (floor(next() / 32) * 67108864 + floor(next() / 64)) / 9007199254740992;
  };
}
