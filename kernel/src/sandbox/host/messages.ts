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

/** Words between the host's main thread and the worker of one guest. */
export type ToWorker =
  | { readonly kind: "load"; readonly program: Uint8Array }
  | { readonly kind: "stdin"; readonly bytes: Uint8Array }
  /** Somebody listens: so many more bytes of output may flow. */
  | { readonly kind: "credit"; readonly count: number };

export type FromWorker =
  | { readonly kind: "loaded" }
  | { readonly kind: "stdout"; readonly bytes: Uint8Array }
  | { readonly kind: "stderr"; readonly text: string }
  | { readonly kind: "taken"; readonly count: number }
  | {
      readonly kind: "usage";
      readonly cpuTimeMs: number;
      readonly memoryBytes: number;
      readonly isComputing: boolean;
    }
  | { readonly kind: "exited"; readonly reason: string };
