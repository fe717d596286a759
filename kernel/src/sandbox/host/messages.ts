import type { MessagePort } from "node:worker_threads";

/** Words between kernel and host, in control frames. `bytes` says what travels behind them. */
export type ToHost =
  /** bytes: the module. Answered by `prepared`. */
  | { readonly kind: "prepare"; readonly request: number; readonly maxMemoryMb: number }
  /** bytes: the prepared module. */
  | { readonly kind: "program"; readonly key: string }
  /** Answered by `started`, or by `exited` alone. */
  | { readonly kind: "start"; readonly guest: number; readonly program: string }
  | { readonly kind: "kill"; readonly guest: number; readonly reason: string }
  /** Keeps a worker ready for the next guest, whatever its program. */
  | { readonly kind: "prewarm" };

export type FromHost =
  /** bytes: the prepared module, where it could be. */
  | {
      readonly kind: "prepared";
      readonly request: number;
      readonly refusal: { readonly code: string; readonly message: string } | null;
    }
  | { readonly kind: "started"; readonly guest: number }
  /** The host does not hold the program; it must be sent first. */
  | { readonly kind: "programMissing"; readonly guest: number }
  | { readonly kind: "exited"; readonly guest: number; readonly reason: string };

/** What the host's main thread has in common with the thread a guest runs in. */
export interface GuestEnds {
  /** The guest's stdin and stdout: see `ByteRing`. */
  readonly input: SharedArrayBuffer;
  readonly output: SharedArrayBuffer;
  /** Brings the compiled program, once. */
  readonly program: MessagePort;
  /** An Int32: 1 once the program is there. */
  readonly gate: SharedArrayBuffer;
}

/** The SDK as every worker loads it. */
export interface SdkModule {
  readonly entry: string;
  readonly compiled: WebAssembly.Module;
  /** See `standInModule`. */
  readonly standIn: Uint8Array;
}

/** Words between the host's main thread and the worker of one guest: somebody listens to stderr. */
export interface ToWorker {
  readonly kind: "open";
}

export type FromWorker =
  /** The guest runs, or will as soon as it has its program. */
  | { readonly kind: "loaded" }
  | { readonly kind: "stderr"; readonly text: string }
  | {
      readonly kind: "usage";
      readonly cpuTimeMs: number;
      readonly memoryBytes: number;
      readonly isComputing: boolean;
    }
  | { readonly kind: "exited"; readonly reason: string };
