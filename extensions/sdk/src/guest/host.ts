import type { Kernel } from "../context/kernel.ts";
import { laresErrorFrom } from "../errors.ts";

/** The functions that the kernel's runtime gives every program. */
export interface GuestHost {
  call(method: string, params: unknown): Promise<unknown>;
  /** Returns false if the line would be too long; then nothing was sent. */
  notify(method: string, params: unknown): boolean;
  serve(methods: Record<string, (params: never) => unknown>): void;
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
    async call<Result>(method: string, params: Readonly<Record<string, unknown>>): Promise<Result> {
      const site = new Error();
      try {
        return (await host.call(method, params)) as Result;
      } catch (thrown) {
        // A value that cannot be sent (a cycle, a BigInt) raises the engine's own error.
        if (!(thrown instanceof Error) || typeof (thrown as { code?: unknown }).code !== "number")
          throw thrown;
        const error = laresErrorFrom(thrown);
        if (site.stack !== undefined) error.stack = site.stack;
        throw error;
      }
    },
    notify: (method, params) => void host.notify(method, params),
  };
}
