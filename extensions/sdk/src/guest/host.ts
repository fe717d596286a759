import type {
  GuestAnswers,
  GuestCall,
  GuestCallResult,
} from "../../../../kernel/src/protocol/guest/v1/calls.ts";
import { type CallParams, cancelled, type Kernel } from "../context/kernel.ts";
import { laresErrorFrom } from "../errors.ts";
import type { CallOptions } from "../types/call.ts";

/** The functions that the kernel's runtime gives every program. */
export interface GuestHost {
  /** Passes `cancellable` a function that cancels the call; an older kernel ignores it. */
  call(method: string, params: unknown, cancellable?: (cancel: () => void) => void): Promise<unknown>;
  /** Returns false if the line would be too long; then nothing was sent. */
  notify(method: string, params: unknown): boolean;
  serve(answers: GuestAnswers): void;
  /** Writes a report to stderr, with the error's stack. */
  report(what: string, error: unknown): void;
  /** The micro HNSW; see `../vectors/engine.ts`. */
  vectors(
    operation: number,
    block: ArrayBuffer | null,
    other: ArrayBuffer | null,
    a: number,
    b: number,
    c: number,
    d: number,
  ): number;
}

export function findHost(): GuestHost {
  const host = (globalThis as Record<symbol, unknown>)[Symbol.for("lares.guest")];
  if (host === undefined)
    throw new Error("Agents run inside the Lares kernel; in a test, use @lares/sdk/testing.");
  return host as GuestHost;
}

/** Returns the kernel behind the host. Its errors point to the place of the call. */
export function kernelOf(host: GuestHost): Kernel {
  return {
    async call<Method extends GuestCall>(
      method: Method,
      params: CallParams<Method>,
      { signal }: CallOptions = {},
    ): Promise<GuestCallResult<Method>> {
      const site = new Error();
      if (signal?.aborted === true) throw cancelled();
      let leave = (): void => undefined;
      try {
        const answer = host.call(
          method,
          params,
          signal === undefined
            ? undefined
            : (cancel) => {
                const abort = (): void => cancel();
                signal.addEventListener("abort", abort, { once: true });
                leave = () => signal.removeEventListener("abort", abort);
              },
        );
        return (await answer) as GuestCallResult<Method>;
      } catch (thrown) {
        // A value that cannot be sent (a cycle, a BigInt) raises the engine's own error.
        if (!(thrown instanceof Error) || typeof (thrown as { code?: unknown }).code !== "number")
          throw thrown;
        const error = laresErrorFrom(thrown);
        if (site.stack !== undefined) error.stack = site.stack;
        throw error;
      } finally {
        leave();
      }
    },
    notify: (method, params) => void host.notify(method, params),
  };
}
