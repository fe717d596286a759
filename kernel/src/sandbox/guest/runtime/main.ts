/**
 * The guest's runtime: evaluated once, when the image is built; from then on the shim calls `turn`. It gives a program
 * its globals and one object, `globalThis[Symbol.for("lares.guest")]`, to talk to the kernel.
 */
import { makeConsole } from "./console.ts";
import { factsOf, isOutOfMemory } from "./errors.ts";
import {
  dictionary,
  mapClear,
  mapDelete,
  mapForEach,
  mapSet,
  NativeMap,
  NativePromise,
  sliceText,
  wellFormed,
} from "./intrinsics.ts";
import { maxReportCharacters, type Native, outOfMemoryExit } from "./native.ts";
import { Timers } from "./timers.ts";
import { guardedParse, installGlobals, startClock } from "./web.ts";
import { type Methods, Wire } from "./wire.ts";

/** What the shim reports; the numbers are part of `shim.wat`. */
const Turn = {
  start: 0,
  loaded: 1,
  loadFailed: 2,
  line: 3,
  tick: 4,
  rejected: 5,
  rejectionHandled: 6,
  jobFailed: 7,
} as const;

export function makeTurn(native: Native): (kind: number, value: unknown, extra: unknown) => number {
  const timers = new Timers(native);
  const unhandled = new NativeMap<unknown, unknown>();

  const report = (what: string, error: unknown): void => {
    const { message, stack } = factsOf(error);
    const text = `${what}: ${stack === "" ? message : stack}`;
    const cut = text.length > maxReportCharacters ? `${sliceText(text, 0, maxReportCharacters)}…` : text;
    native.write(2, `${wellFormed(cut)}\n`, 0x7fffffff);
  };

  /** Reports an error that no caller received. Without memory no request can be answered, so the guest exits. */
  const escaped = (what: string, error: unknown): void => {
    try {
      report(what, error);
    } catch (failure) {
      if (isOutOfMemory(failure)) native.exit(outOfMemoryExit);
    }
    if (isOutOfMemory(error)) native.exit(outOfMemoryExit);
  };

  const parse = guardedParse(native);
  const wire = new Wire(native, parse, {
    // The loop answers it, even while handlers wait. It has no prototype, so a patched `toJSON` cannot affect it.
    ping: () => {
      const answer = dictionary<number>();
      answer["pending_timers"] = timers.pending;
      return answer;
    },
  });

  const guest = {
    call: (method: string, params: unknown, cancellable?: (cancel: () => void) => void) =>
      wire.call(method, params, cancellable),
    notify: (method: string, params: unknown) => wire.notify(method, params),
    serve: (methods: Methods) => wire.serve(methods),
    /** Writes to stderr, with the stack. */
    report,
    /** For the SDK's VectorSet. */
    vectors: native.vectors,
    exit: (code: number) => native.exit(code),
  };
  Object.defineProperty(globalThis, Symbol.for("lares.guest"), { value: Object.freeze(guest) });

  const trace = (level: string, message: string): void => {
    wire.notify("trace", { level, message });
  };
  installGlobals(
    native,
    timers,
    parse,
    makeConsole(trace, () => native.now()),
  );

  const tick = (): number => {
    if (unhandled.size > 0) {
      mapForEach(unhandled, (error) => report("Unhandled rejection", error));
      mapClear(unhandled);
    }
    try {
      // Runs one timer at a time, so that its promise jobs run before the next timer and lines are read in between.
      if (timers.runOne()) return 0;
    } catch (error) {
      report("Uncaught in a timer", error);
      return 0;
    }
    return timers.delayMs();
  };

  return (kind, value, extra) => {
    switch (kind) {
      case Turn.start:
        startClock(native);
        return 0;
      case Turn.loaded:
        // The promise of the program's module: still pending if it awaits at its top level.
        wire.loading(value as Promise<unknown>);
        return 0;
      case Turn.loadFailed:
        wire.loading(NativePromise.reject(value));
        return 0;
      case Turn.line:
        try {
          wire.receive(value as string);
        } catch (error) {
          escaped("A line could not be handled", error);
        }
        return 0;
      case Turn.tick:
        return tick();
      case Turn.rejected:
        mapSet(unhandled, value, extra);
        return 0;
      case Turn.rejectionHandled:
        mapDelete(unhandled, value);
        return 0;
      case Turn.jobFailed:
        escaped("Uncaught", value);
        return 0;
      default:
        return 0;
    }
  };
}
