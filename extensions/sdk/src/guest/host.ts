import { cancelled, type Kernel } from "../context/kernel.ts";
import { laresErrorFrom } from "../errors.ts";
import type { CallOptions } from "../types/call.ts";

/** What the kernel's runtime gives every program. */
export interface GuestHost {
  /** `cancellable` is given a function that takes the call back; a kernel from before that ignores it. */
  call(method: string, params: unknown, cancellable?: (cancel: () => void) => void): Promise<unknown>;
  /** False: the line would have been too long, nothing was sent. */
  notify(method: string, params: unknown): boolean;
  serve(methods: Record<string, (params: never) => unknown>): void;
  /** One report on stderr, with the error's stack. */
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

/** The kernel behind the host; its errors point to where the call was made. */
export function kernelOf(host: GuestHost): Kernel {
  return {
    async call<Result>(
      method: string,
      params: Readonly<Record<string, unknown>>,
      { signal }: CallOptions = {},
    ): Promise<Result> {
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
        return (await answer) as Result;
      } catch (thrown) {
        // What cannot be sent at all (a cycle, a BigInt) is the engine's own error.
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
