import type { MessagePort } from "node:worker_threads";

/** Control messages between kernel and host. `bytes` describes the binary data that follows the message. */
export type ToHost =
  /** bytes: the module. Answered by `prepared`. */
  | { readonly kind: "prepare"; readonly request: number; readonly maxMemoryMb: number }
  /** bytes: the prepared module. */
  | { readonly kind: "program"; readonly key: string }
  /** Answered by `started`, or by `exited` alone. */
  | { readonly kind: "start"; readonly guest: number; readonly program: string }
  | { readonly kind: "kill"; readonly guest: number; readonly reason: string }
  /** Keeps a worker ready for the next guest of any program. */
  | { readonly kind: "prewarm" };

export type FromHost =
  /** bytes: the prepared module, if there is one. */
  | {
      readonly kind: "prepared";
      readonly request: number;
      readonly refusal: { readonly code: string; readonly message: string } | null;
    }
  | { readonly kind: "started"; readonly guest: number }
  /** The host does not have the program; the kernel must send it first. */
  | { readonly kind: "programMissing"; readonly guest: number }
  | { readonly kind: "exited"; readonly guest: number; readonly reason: string };

/** Shared by the host's main thread and the thread that runs a guest. */
export interface GuestEnds {
  /** The guest's stdin and stdout: see `ByteRing`. */
  readonly input: SharedArrayBuffer;
  readonly output: SharedArrayBuffer;
  /** Delivers the compiled program, once. */
  readonly program: MessagePort;
  /** An Int32Array of one element, which is 1 when the program has arrived. */
  readonly gate: SharedArrayBuffer;
}

/** The SDK as every worker loads it. */
export interface SdkModule {
  readonly entry: string;
  readonly compiled: WebAssembly.Module;
  /** See `standInModule`. */
  readonly standIn: Uint8Array;
}

/** The message from the host's main thread to a guest's worker: the host now reads stderr. */
export interface ToWorker {
  readonly kind: "open";
}

export type FromWorker =
  /** The guest runs, or will run as soon as it has its program. */
  | { readonly kind: "loaded" }
  | { readonly kind: "stderr"; readonly text: string }
  | {
      readonly kind: "usage";
      readonly cpuTimeMs: number;
      readonly memoryBytes: number;
      readonly isComputing: boolean;
    }
  | { readonly kind: "exited"; readonly reason: string };
