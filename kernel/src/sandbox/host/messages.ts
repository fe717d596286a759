/** Words between kernel and host, in control frames. `bytes` says what travels behind them. */
export type ToHost =
  /** bytes: the module. Answered by `prepared`. */
  | { readonly kind: "prepare"; readonly request: number; readonly maxMemoryMb: number }
  /** bytes: the prepared module. */
  | { readonly kind: "program"; readonly key: string }
  /** Answered by `started`, or by `exited` alone. */
  | { readonly kind: "start"; readonly guest: number; readonly program: string }
  | { readonly kind: "kill"; readonly guest: number; readonly reason: string }
  /** Keeps a worker ready, with the program's guest already waiting for input where one is named. */
  | { readonly kind: "prewarm"; readonly program: string | null };

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

/** A guest's stdin and stdout, shared by the host's main thread and the thread the guest runs in: see `ByteRing`. */
export interface GuestPipes {
  readonly input: SharedArrayBuffer;
  readonly output: SharedArrayBuffer;
}

/** Words between the host's main thread and the worker of one guest. */
export type ToWorker =
  | { readonly kind: "load"; readonly program: Uint8Array }
  /** Somebody listens to stderr. */
  | { readonly kind: "open" };

export type FromWorker =
  | { readonly kind: "loaded" }
  | { readonly kind: "stderr"; readonly text: string }
  | {
      readonly kind: "usage";
      readonly cpuTimeMs: number;
      readonly memoryBytes: number;
      readonly isComputing: boolean;
    }
  | { readonly kind: "exited"; readonly reason: string };
